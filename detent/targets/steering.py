"""How a task steers its firing: it returns or raises one of these.

return Snooze("10m", "the file isn't there yet")
raise Retry(after="30s") from error
raise Cancel("the customer has left")
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from detent.domain.duration import format_duration, parse_duration
from detent.domain.errors import SpecError
from detent.domain.settle import Outcome
from detent.targets.ending import Deferred, Ended

_LEAST: Final = timedelta(seconds=1)
"""Of a snooze: a firing that waits for something must not ask for it all the time."""
_MOST: Final = timedelta(days=7)

Delay = timedelta | str
"""Or a text such as 90s, 10m, 2h."""


class Retry(Exception):
    """This attempt has failed; another one is due after `after`, or else as the retry policy of the schedule says. If
    none is left the firing is dead."""

    def __init__(self, reason: str = "", *, after: Delay | None = None) -> None:
        super().__init__(reason)
        self.reason: Final = reason
        self.after: Final = None if after is None else _read(after, "after", timedelta())


class Snooze(Exception):
    """Nothing was attempted: the firing waits for so long, keeps its seat, and no attempt is used. A start deadline
    still holds for a firing that was never attempted."""

    def __init__(self, delay: Delay, reason: str = "") -> None:
        super().__init__(reason)
        self.reason: Final = reason
        self.delay: Final = _read(delay, "delay", _LEAST)


class Cancel(Exception):
    """The firing is not to run any more: it concludes as cancelled, whatever attempts are left."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason: Final = reason


Steering = Retry | Snooze | Cancel
RAISED: Final = (Retry, Snooze, Cancel)
TOLD: Final = (Ended, Deferred, *RAISED)
"""The types that an executor looks for, among what is raised and what is returned."""


def told_by(steering: Steering) -> Ended | Deferred:
    match steering:
        case Retry(reason=reason, after=after):
            return Ended(code="retry", error=reason or "it asked for another attempt", again_in=after)
        case Snooze(reason=reason, delay=delay):
            return Deferred(delay=delay, reason=reason or "snoozed")
        case Cancel(reason=reason):
            return Ended(outcome=Outcome.CANCELLED, code="task", error=reason or None)


def _read(delay: Delay, field: str, least: timedelta) -> timedelta:
    read = delay if isinstance(delay, timedelta) else parse_duration(delay, field)
    if not least <= read <= _MOST:
        raise SpecError(
            f"{field} is {format_duration(read)}: allowed is {format_duration(least)} to {format_duration(_MOST)}",
            code="out_of_range",
            field=field,
        )
    return read
