"""Triggers as a person writes them in code: `cron("0 2 * * *", tz="Europe/Berlin")`, `every("90s")`, and so on.

Each is one trigger of the one spec (detent/domain/spec.py), which checks it when a schedule is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from detent.domain.duration import format_duration
from detent.domain.errors import SpecError
from detent.domain.instant import MILLISECOND, format_instant

Instant = datetime | str
"""Aware, or a text such as 2026-11-19T08:00:00Z."""
Duration = timedelta | str
"""Or a text such as 90s, 10m, 2h."""
Gap = Literal["at_transition", "shift", "skip"]
Fold = Literal["first", "last", "both"]
Exclude = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class When:
    """One trigger. A schedule has one or a list of them."""

    spec: Mapping[str, object]


def cron(
    expression: str, *, tz: str | None = None, gap: Gap | None = None, fold: Fold | None = None,
    start_at: Instant | None = None, end_at: Instant | None = None, exclude: Exclude | None = None,
) -> When:  # fmt: skip
    """By the wall clock of a zone. `gap` and `fold` say what happens to times that clock changes skip or repeat."""
    return _when(cron=expression, timezone=tz, gap=gap, fold=fold, **_bounds(start_at, end_at, exclude))


def rrule(
    rule: str, *, tz: str | None = None, gap: Gap | None = None, fold: Fold | None = None,
    start_at: Instant | None = None, end_at: Instant | None = None, exclude: Exclude | None = None,
) -> When:  # fmt: skip
    """A recurrence rule, such as FREQ=MONTHLY;BYDAY=-1FR, from `start_at` on."""
    return _when(rrule=rule, timezone=tz, gap=gap, fold=fold, **_bounds(start_at, end_at, exclude))


def every(
    period: Duration, *, start_at: Instant | None = None, end_at: Instant | None = None,
    tz: str | None = None, exclude: Exclude | None = None,
) -> When:  # fmt: skip
    """Elapsed time, from `start_at` or from the registration on. The zone is that of `exclude`."""
    return _when(every=written_duration(period), timezone=tz, **_bounds(start_at, end_at, exclude))


def at(instant: Instant) -> When:
    """Once, at an instant, or after a delay such as "in 10m"."""
    return _when(at=_written_instant(instant))


def written_duration(duration: Duration) -> str:
    if not isinstance(duration, timedelta):
        return duration
    if duration % MILLISECOND:
        message = f"{duration!r} can't be kept: a duration is a whole number of milliseconds"
        raise SpecError(message, code="bad_duration", field="duration")
    return format_duration(duration)


def _written_instant(instant: Instant | None) -> str | None:
    if not isinstance(instant, datetime):
        return instant
    # One without a zone keeps lacking it, and is refused where all instants are read.
    return format_instant(instant) if instant.tzinfo is not None else instant.isoformat()


def _bounds(start_at: Instant | None, end_at: Instant | None, exclude: Exclude | None) -> dict[str, object]:
    return {"start_at": _written_instant(start_at), "end_at": _written_instant(end_at), "exclude": exclude}


def _when(**parts: object) -> When:
    return When({key: value for key, value in parts.items() if value is not None})
