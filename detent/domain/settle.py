"""What an attempt's outcome means for its firing: concluded, tried again, or dead.

| outcome    | attempts left | then                      |
|------------|---------------|---------------------------|
| succeeded  |               | concluded                 |
| cancelled  |               | concluded                 |
| failed     | yes           | again after the delay     |
| timed_out  | yes           | again after the delay     |
| lost       | yes           | again at once             |
| any other  | no            | dead, for a person to see |

Three attempts that were lost with their nodes make a firing dead whatever its policy: it takes its workers down. Those
that a stopping worker gave up are lost as well, but speak against nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from detent.domain.retry import Retry

MAX_LOST: Final = 3
"""A firing that cost three workers is not given a fourth."""
LONGEST_RETRY_AFTER: Final = timedelta(hours=1)
"""A target may ask for patience, not for oblivion."""
LONGEST_DEFERRAL: Final = timedelta(days=89)
"""After its instant: retention less a day, for its last fact must find its partition."""
MAX_CLAIMS: Final = 10_000
"""A firing that was deferred so often waits for what won't come."""


class Outcome(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LOST = "lost"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Concluded:
    """The attempt is the firing's last word."""


@dataclass(frozen=True, slots=True)
class Again:
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Dead:
    """No attempts are left, and none succeeded."""


Settlement = Concluded | Again | Dead


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The attempts of a firing so far, the one that has just ended included."""

    attempts: int
    lost: int
    """With their nodes."""


UNTRIED: Final = Tried(attempts=0, lost=0)


def settle(
    retry: Retry,
    tried: Tried,
    outcome: Outcome,
    *,
    as_of: datetime,
    seed: str,
    retryable: bool = True,
    retry_after: timedelta | None = None,
    again_in: timedelta | None = None,
) -> Settlement:
    if outcome in (Outcome.SUCCEEDED, Outcome.CANCELLED):
        return Concluded()
    if not retryable or tried.attempts >= retry.max_attempts or tried.lost >= MAX_LOST:
        return Dead()
    if outcome is Outcome.LOST:
        return Again(as_of)
    if again_in is not None:
        return Again(as_of + again_in)
    delay = retry.delay(tried.attempts, seed)
    if retry_after is not None:
        asked = min(retry_after, retry.cap, LONGEST_RETRY_AFTER)
        delay = max(delay, retry.spread(asked, tried.attempts, seed))
    return Again(as_of + delay)


def settle_next(
    retry: Retry, before: Tried, outcome: Outcome, *, as_of: datetime, firing: tuple[int, datetime],
    retryable: bool = True, retry_after: timedelta | None = None, again_in: timedelta | None = None,
    stopping: bool = False,
) -> Settlement:  # fmt: skip
    """The same, for an attempt that has just ended and isn't counted in `before`. `stopping`: its worker was."""
    lost = outcome is Outcome.LOST and not stopping
    tried = Tried(attempts=before.attempts + 1, lost=before.lost + lost)
    return settle(
        retry, tried, outcome, as_of=as_of, seed=f"{firing[0]}/{firing[1].isoformat()}",
        retryable=retryable, retry_after=retry_after, again_in=again_in,
    )  # fmt: skip


def refuse_deferral(number: int, scheduled_for: datetime, until: datetime) -> str | None:
    """Why a firing can't be deferred once more. `number`: how often it was claimed."""
    if number >= MAX_CLAIMS:
        return f"it was claimed {number} times"
    if until - scheduled_for > LONGEST_DEFERRAL:
        return f"that is more than {LONGEST_DEFERRAL.days} days after its instant"
    return None


def verdict_of(settlement: Settlement) -> tuple[str, datetime | None]:
    """As the ledger's function is told: the word, and when it is due again."""
    match settlement:
        case Concluded():
            return "conclude", None
        case Again(due_at):
            return "again", due_at
        case Dead():
            return "die", None
