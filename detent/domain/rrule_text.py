"""From the text of a recurrence rule to its value, or to an error that says what to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final, NamedTuple, TypeVar

from detent.domain.cron import clean_expression
from detent.domain.days import DAY_SECONDS, LEAP_MONTH_LENGTHS
from detent.domain.errors import SpecError, quoted
from detent.domain.instant import instant_of, seconds_of
from detent.domain.limits import EARLIEST, LATEST, MAX_RRULE_COUNT
from detent.domain.rrule import STEP, WEEKDAY_CODES, Frequency, Recurrence
from detent.domain.rrule_days import ByDay, DayParts
from detent.domain.zone import Zone

T = TypeVar("T")

_FIELD: Final = "rrule"
_MAX_INTERVAL: Final = 10_000
_MAX_TIMES: Final = 20_000
_FAR: Final = 1 << 62
_TIMES: Final = ("BYHOUR", "BYMINUTE", "BYSECOND")
_UNTIL: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?", re.ASCII)
_DAY_END: Final = (0, 0, 0, 23, 59, 59)
_BYDAY: Final = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?\d{1,6}", re.ASCII)

_LISTS: Final[Mapping[str, tuple[int, int, bool]]] = {
    "BYMONTH": (1, 12, False),
    "BYWEEKNO": (1, 53, True),
    "BYYEARDAY": (1, 366, True),
    "BYMONTHDAY": (1, 31, True),
    "BYHOUR": (0, 23, False),
    "BYMINUTE": (0, 59, False),
    "BYSECOND": (0, 59, False),
    "BYSETPOS": (1, 366, True),
}
"""The least, the largest, and whether they may count from the end."""
_KNOWN: Final = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *_LISTS)
_ELSEWHERE: Final = {
    "DTSTART": "set start_at (and the timezone) instead",
    "EXDATE": "use exclude instead",
    "RDATE": "add a trigger at instead",
    "EXRULE": "use exclude instead",
    "TZID": "set the timezone instead",
    "BYEASTER": "is no part of RFC 5545: list the dates as triggers at",
    "RSCALE": "only the Gregorian calendar is known",
}


class _Part(NamedTuple):
    value: str
    position: int


def parse_rrule(text: object, start: datetime, zone: Zone) -> Recurrence:
    """An RRULE whose DTSTART is `start` on the wall clock of the zone."""
    rule = clean_expression(text, _FIELD)
    assert isinstance(text, str)
    offset = text.index(rule)
    body = rule[6:] if rule[:6].upper() == "RRULE:" else rule
    parts = _parts(body.upper(), offset + len(rule) - len(body))
    second = seconds_of(start)
    return _rule(parts, second + zone.offset_at(second), zone)


def _parts(body: str, position: int) -> dict[str, _Part]:
    parts: dict[str, _Part] = {}
    end = position + len(body)
    for token in body.rstrip(";").split(";") if body else ():
        name, equals, value = token.partition("=")
        if name not in _KNOWN:
            raise _refused("unknown_part", token, position, _advice_on(name))
        if name in parts:
            raise _refused("duplicate_part", token, position, f"{name} is given twice: keep one")
        if not equals or not value:
            raise _refused("bad_value", token, position, f"{name} has no value")
        parts[name] = _Part(value, position + len(name) + 1)
        position += len(token) + 1
    if "FREQ" not in parts:
        raise _refused("missing_part", "", end, "FREQ is missing, such as FREQ=DAILY")
    if "COUNT" in parts and "UNTIL" in parts:
        raise _refused("conflict", *_name(parts, "COUNT"), "give COUNT or UNTIL, not both")
    return parts


def _advice_on(name: str) -> str:
    if not name:
        return "a part is empty: remove a semicolon"
    for known, advice in _ELSEWHERE.items():
        if name.startswith(known):
            return f"{known} has no place in the rule: {advice}"
    return f"{quoted(name)} is no part of a rule: known are {', '.join(_KNOWN)}"


def _rule(parts: Mapping[str, _Part], start: int, zone: Zone) -> Recurrence:
    def number(name: str, default: int, high: int) -> int:
        return _integer(name, parts[name], 1, high) if name in parts else default

    frequency = _frequency(parts["FREQ"])
    lists = {
        name: _integers(name, parts[name], low, high, negative=negative)
        if name in parts
        else frozenset[int]()
        for name, (low, high, negative) in _LISTS.items()
    }
    days = DayParts(
        months=lists["BYMONTH"],
        weeks=lists["BYWEEKNO"],
        year_days=lists["BYYEARDAY"],
        month_days=lists["BYMONTHDAY"],
        weekdays=_weekdays(parts["BYDAY"], frequency) if "BYDAY" in parts else frozenset(),
        week_start=_week_start(parts["WKST"]) if "WKST" in parts else 0,
        nth_of_year=frequency is Frequency.YEARLY and not lists["BYMONTH"],
    )
    _refuse_misplaced(parts, frequency)
    _refuse_impossible(parts, days)
    wall, unit = instant_of(start), STEP.get(frequency, DAY_SECONDS)
    interval = number("INTERVAL", 1, _MAX_INTERVAL)
    _refuse_many_times(parts, lists, unit, interval)
    recurrence = Recurrence(
        frequency=frequency,
        start=start,
        interval=interval,
        count=number("COUNT", 0, MAX_RRULE_COUNT) or None,
        until=_until(parts["UNTIL"], zone) if "UNTIL" in parts else None,
        days=_filled(days, frequency, wall),
        hours=lists["BYHOUR"] or frozenset((wall.hour,) if unit > 3600 else ()),
        minutes=lists["BYMINUTE"] or frozenset((wall.minute,) if unit > 60 else ()),
        seconds=lists["BYSECOND"] or frozenset((wall.second,) if unit > 1 else ()),
        positions=lists["BYSETPOS"],
    )
    _refuse_drifting(recurrence, parts)
    return recurrence


def _filled(days: DayParts, frequency: Frequency, wall: datetime) -> DayParts:
    """What the RFC takes from DTSTART where the rule is silent about days."""
    if days.weekdays or days.year_days or days.month_days:
        return days
    if frequency is Frequency.WEEKLY or days.weeks:
        return replace(days, weekdays=frozenset((ByDay(0, wall.weekday()),)))
    if frequency is Frequency.MONTHLY:
        return replace(days, month_days=frozenset((wall.day,)))
    if frequency is Frequency.YEARLY:
        return replace(
            days, months=days.months or frozenset((wall.month,)), month_days=frozenset((wall.day,))
        )
    return days


def _frequency(part: _Part) -> Frequency:
    try:
        return Frequency(part.value)
    except ValueError:
        known = ", ".join(Frequency)
        advice = f"{quoted(part.value)} is no frequency: known are {known}"
        raise _refused("bad_value", part.value, part.position, advice) from None


def _integer(name: str, part: _Part, low: int, high: int, *, negative: bool = False) -> int:
    if not _INTEGER.fullmatch(part.value):
        advice = f"{name} takes whole numbers, not {quoted(part.value)}"
        raise _refused("bad_value", part.value, part.position, advice)
    value = int(part.value)
    if not (low <= value <= high or (negative and low <= -value <= high)):
        advice = f"{name} {value} is out of range: allowed is {low}-{high}"
        advice += f" or -{high} to -{low}" if negative else ""
        raise _refused("out_of_range", part.value, part.position, advice)
    return value


def _each(part: _Part, read: Callable[[_Part], T]) -> frozenset[T]:
    position, found = part.position, set()
    for token in part.value.split(","):
        found.add(read(_Part(token, position)))
        position += len(token) + 1
    return frozenset(found)


def _integers(name: str, part: _Part, low: int, high: int, *, negative: bool) -> frozenset[int]:
    return _each(part, lambda p: _integer(name, p, low, high, negative=negative))


def _weekdays(part: _Part, frequency: Frequency) -> frozenset[ByDay]:
    def read(token: _Part) -> ByDay:
        match = _BYDAY.fullmatch(token.value)
        if match is None:
            advice = f"{quoted(token.value)} is no weekday: write MO, 1MO or -1FR"
            raise _refused("bad_value", token.value, token.position, advice)
        nth = int(match[1] or 0)
        if match[1] and (nth == 0 or abs(nth) > 53):
            advice = f"{quoted(token.value)} counts outside a year: allowed is 1-53 or -53 to -1"
            raise _refused("out_of_range", token.value, token.position, advice)
        if nth and frequency not in (Frequency.YEARLY, Frequency.MONTHLY):
            advice = f"{quoted(token.value)} counts weekdays, which only MONTHLY and YEARLY rules can"
            raise _refused("conflict", token.value, token.position, advice)
        return ByDay(nth, WEEKDAY_CODES.index(match[2]))

    return _each(part, read)


def _week_start(part: _Part) -> int:
    if part.value not in WEEKDAY_CODES:
        advice = f"{quoted(part.value)} is no weekday: write MO or SU"
        raise _refused("bad_value", part.value, part.position, advice)
    return WEEKDAY_CODES.index(part.value)


def _until(part: _Part, zone: Zone) -> int:
    """The last wall time; a date alone means its whole day."""
    match = _UNTIL.fullmatch(part.value)
    if match is None:
        advice = f"{quoted(part.value)} is no end: write UNTIL=20271231T235959Z"
        raise _refused("bad_value", part.value, part.position, advice)
    year, month, day, hour, minute, second = (
        int(n or m) for n, m in zip(match.groups(), _DAY_END, strict=False)
    )
    try:
        wall = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        advice = f"{quoted(part.value)} does not exist: {error}"
        raise _refused("bad_value", part.value, part.position, advice) from None
    if not EARLIEST <= wall < LATEST:
        advice = f"UNTIL is out of range: allowed are the years {EARLIEST.year} to {LATEST.year - 1}"
        raise _refused("out_of_range", part.value, part.position, advice)
    at = seconds_of(wall)
    return at + zone.offset_at(at) if match[7] else at


def _refuse_misplaced(parts: Mapping[str, _Part], frequency: Frequency) -> None:
    misplaced = {
        "BYWEEKNO": frequency is not Frequency.YEARLY,
        "BYYEARDAY": frequency in (Frequency.MONTHLY, Frequency.WEEKLY, Frequency.DAILY),
        "BYMONTHDAY": frequency is Frequency.WEEKLY,
        "BYSETPOS": frequency in STEP or not any(p.startswith("BY") for p in parts if p != "BYSETPOS"),
    }
    for name, wrong in misplaced.items():
        if wrong and name in parts:
            advice = f"{name} has no meaning in this {frequency} rule"
            raise _refused("conflict", *_name(parts, name), advice)


def _refuse_impossible(parts: Mapping[str, _Part], days: DayParts) -> None:
    months = days.months or range(1, 13)
    if days.month_days and all(
        abs(day) > LEAP_MONTH_LENGTHS[month] for day in days.month_days for month in months
    ):
        part = parts["BYMONTHDAY"]
        name = " or ".join(date(2000, month, 1).strftime("%B") for month in months)
        advice = f"never fires: no {name} has a day {part.value}"
        raise _refused("never_fires", part.value, part.position, advice)


def _refuse_drifting(rule: Recurrence, parts: Mapping[str, _Part]) -> None:
    """Steps that fall on other times each day, then thinned out by BY parts: a day may have none for years."""
    if rule.times is None and rule.limited:
        unit = {3600: "h", 60: "m", 1: "s"}[STEP[rule.frequency]]
        advice = f"INTERVAL={rule.interval} doesn't divide the day and can't be limited to times of day"
        advice += f": use the trigger every: {rule.interval}{unit}, or an interval that divides the day"
        raise _refused("conflict", *_name(parts, "INTERVAL"), advice)


def _refuse_many_times(
    parts: Mapping[str, _Part], lists: Mapping[str, frozenset[int]], unit: int, interval: int
) -> None:
    """Counted before they are laid out: each one listed, or each step of the day, whichever are fewer."""
    hours, minutes, seconds = (len(lists[name]) for name in _TIMES)
    below_step = (minutes or 1 if unit > 60 else 1) * (seconds or 1 if unit > 1 else 1)
    steps = (DAY_SECONDS // (unit * interval) + 1) * below_step if unit < DAY_SECONDS else _FAR
    listed = (hours or (24 if unit < DAY_SECONDS else 1)) * (minutes or (60 if unit < 3600 else 1))
    times = min(steps, listed * (seconds or (60 if unit < 60 else 1)))
    named = [name for name in _TIMES if name in parts]
    if named and times > _MAX_TIMES:
        advice = f"up to {times} times a day are listed, allowed are {_MAX_TIMES}"
        longest = max(named, key=lambda name: len(lists[name]))
        raise _refused("too_many_times", *_name(parts, longest), advice)


def _name(parts: Mapping[str, _Part], name: str) -> tuple[str, int]:
    """A part's name and where it stands."""
    return name, parts[name].position - len(name) - 1


def _refused(code: str, token: str, position: int, message: str) -> SpecError:
    return SpecError(message, code=code, field=_FIELD, token=token, position=position)
