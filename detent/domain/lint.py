"""Lint: what is allowed, but probably not what was meant, and what clock changes will do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from detent.domain.bits import members
from detent.domain.cron.expression import Cron
from detent.domain.cron.field import Field
from detent.domain.cron.members import NthWeekday, Span
from detent.domain.cron.units import WEEKDAYS
from detent.domain.days import MONTH_LENGTHS
from detent.domain.dst import clock_changes
from detent.domain.trigger import Rule
from detent.domain.wallclock import WallClock
from detent.domain.words import clock, ordinal
from detent.domain.zone import Zone, old_names

LOOK_AHEAD: Final = timedelta(days=731)
ABOUT_ZONES: Final = frozenset({"old_zone_name", "posix_sign"})
"""Findings that are the same for every rule in a zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to look at. `at` is set where it is about one moment."""

    code: str
    message: str
    at: datetime | None = None


def lint(rule: Rule, as_of: datetime) -> Iterator[Finding]:
    """All findings about a rule, the clock changes of the next two years last."""
    if not isinstance(rule, WallClock):
        return
    if isinstance(rule.pattern, Cron):
        yield from _expression(rule.pattern)
    yield from _zone(rule.zone)
    for change in clock_changes(rule, as_of, as_of + LOOK_AHEAD):
        yield Finding(code=f"dst_{change.kind}", message=change.message, at=change.at)


def _expression(cron: Cron) -> Iterator[Finding]:
    for field in (cron.second, cron.minute, cron.hour):
        yield from _uneven(field)
    yield from _every_minute_of_an_hour(cron)
    yield from _two_day_fields(cron)
    yield from _short_months(cron)
    yield from _sunday_is_zero(cron)
    yield from _whose_h(cron)


def _uneven(field: Field) -> Iterator[Finding]:
    for member in field.members:
        if isinstance(member, Span) and member.star and member.step > 1 and field.unit.size % member.step:
            rest = field.unit.size % member.step
            yield Finding(
                code="uneven_step",
                message=f"*/{member.step} starts anew with each {_larger(field)}, so the last step is only"
                f" {rest} {field.unit.name}{'s' if rest > 1 else ''} long: @every keeps an even distance",
            )


def _larger(field: Field) -> str:
    return {"second": "minute", "minute": "hour"}.get(field.unit.name, "day")


def _every_minute_of_an_hour(cron: Cron) -> Iterator[Finding]:
    if cron.minute.text() == "*" and cron.hours.bit_count() == 1:
        hour = next(members(cron.hours))
        yield Finding(
            code="every_minute_of_an_hour",
            message=f"fires 60 times from {clock(hour * 3600)} to {clock(hour * 3600 + 3540)}: for once write 0 {hour}",
        )


def _two_day_fields(cron: Cron) -> Iterator[Finding]:
    day, weekday = cron.day.text(), cron.weekday.text()
    if "*" in (day, weekday):
        return
    if cron.day.star or cron.weekday.star:
        message = f"day {day} and weekday {weekday} must both hold, for one of them begins with a star"
        yield Finding(code="both_day_fields", message=message)
    else:
        message = f"fires on day {day} and on weekday {weekday}: either is enough when both are given"
        yield Finding(code="either_day_field", message=message)


def _short_months(cron: Cron) -> Iterator[Finding]:
    earliest = next(members(cron.days), 0)
    if earliest <= MONTH_LENGTHS[2] or cron.day.days or not cron.weekday.star:
        return
    if any(MONTH_LENGTHS[month] < earliest for month in members(cron.months)):
        message = f"months without a {ordinal(earliest)} are left out: L is the last day of every month"
        yield Finding(code="short_months", message=message)


def _sunday_is_zero(cron: Cron) -> Iterator[Finding]:
    for member in cron.weekday.days:
        if isinstance(member, NthWeekday):
            yield Finding(
                code="sunday_is_zero",
                message=f"{member.text()} is a {WEEKDAYS[member.weekday]}: Sunday is 0 here, and 1 in Quartz",
            )


def _whose_h(cron: Cron) -> Iterator[Finding]:
    hashed = any(f.hashed for f in (cron.second, cron.minute, cron.hour, cron.day, cron.month, cron.weekday))
    if hashed and not cron.identity:
        message = (
            "H picks by the schedule's identity, and none is given here: each schedule has a time of its own"
        )
        yield Finding(code="no_identity", message=message)


def _zone(zone: Zone) -> Iterator[Finding]:
    if zone.name in old_names():
        message = f"{zone.name} is an old name of {old_names()[zone.name]}; it is kept as written"
        yield Finding(code="old_zone_name", message=message)
    if zone.name.startswith("Etc/GMT") and zone.name[7:].strip("+-0"):
        east = -zone.offsets[-1] // 3600 if zone.offsets[-1] < 0 else zone.offsets[-1] // 3600
        side = "behind" if zone.offsets[-1] < 0 else "ahead of"
        message = f"{zone.name} is {east} hour{'s' if east > 1 else ''} {side} UTC: the sign is the POSIX one"
        yield Finding(code="posix_sign", message=message)
