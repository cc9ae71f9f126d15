"""`exclude` of a trigger spec, read into a calendar.

{"timezone": …, "dates": ["2026-12-25"], "ranges": [{"from": …, "to": …}], "weekly": [{"days": …, "from": …, "to": …}]}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final, TypeVar

from detent.domain.bits import below
from detent.domain.calendar import Calendar, DateRange, WeeklyWindow
from detent.domain.cron.field import parse_field
from detent.domain.cron.units import WEEKDAY
from detent.domain.days import DAY_SECONDS
from detent.domain.errors import SpecError, quoted
from detent.domain.given import listed, mapping, token_of
from detent.domain.limits import MAX_EXCLUSIONS
from detent.domain.zone import Zone, given_zone

Entry = TypeVar("Entry")

_FIELD: Final = "exclude"
_KEYS: Final = ("timezone", "tz", "dates", "ranges", "weekly")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
"""`fromisoformat` alone also reads 2026-W01-1, and 20261225 with any two letters behind it."""
_CLOCK: Final = re.compile(r"\d\d:\d\d", re.ASCII)
_MAX_DAYS: Final = 99


def parse_exclusions(spec: object, where: Zone) -> Calendar:
    """In the zone of the trigger, unless it names its own."""
    given = mapping(spec, _KEYS, _FIELD)
    if sum(len(listed(given, key, f"{_FIELD}/{key}")) for key in _KEYS[2:]) > MAX_EXCLUSIONS:
        message = f"at most {MAX_EXCLUSIONS} entries are allowed"
        raise SpecError(message, code="out_of_range", field=_FIELD)
    try:
        where = given_zone(given, where)
    except SpecError as error:
        raise error.within(f"{_FIELD}/{error.field}") from None
    dates = [DateRange(day, day) for day in _each(given, "dates", _date)]
    ranges, windows = _each(given, "ranges", _range), _each(given, "weekly", _window)
    return Calendar(where, tuple(sorted((*dates, *ranges))), tuple(windows))


def _each(given: Mapping[str, object], key: str, read: Callable[[object, str], Entry]) -> list[Entry]:
    """The entries of a list, each read with its place for errors."""
    field = f"{_FIELD}/{key}"
    return [read(entry, f"{field}/{number}") for number, entry in enumerate(listed(given, key, field))]


def _date(value: object, field: str) -> date:
    try:
        if isinstance(value, str) and _DATE.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    shown = quoted(value) if isinstance(value, str) else "this"
    message = f"{shown} is no date: write it like 2026-12-25"
    raise SpecError(message, code="bad_date", field=field, token=token_of(value))


def _range(entry: object, field: str) -> DateRange:
    given = mapping(entry, ("from", "to"), field)
    first, last = _date(given.get("from"), f"{field}/from"), _date(given.get("to"), f"{field}/to")
    if last < first:
        message = "the last day lies before the first"
        raise SpecError(message, code="empty_range", field=f"{field}/to", token=token_of(given["to"]))
    return DateRange(first, last)


def _window(entry: object, field: str) -> WeeklyWindow:
    given = mapping(entry, ("days", "from", "to"), field)
    weekdays = _weekdays(given.get("days", "*"), f"{field}/days")
    start = _clock(given.get("from", "00:00"), f"{field}/from")
    end = _clock(given.get("to", "24:00"), f"{field}/to")
    return WeeklyWindow(weekdays, start, (end - start) % DAY_SECONDS or DAY_SECONDS)


def _weekdays(value: object, field: str) -> int:
    """As cron writes them, but days alone."""
    if not isinstance(value, str) or len(value) > _MAX_DAYS or not value.isascii():
        message = "days is a text such as SAT,SUN or MON-FRI"
        raise SpecError(message, code="bad_value", field=field, token=token_of(value))
    try:
        parsed = parse_field(WEEKDAY, value)
    except SpecError as error:
        raise error.within(field) from None
    if parsed.days or parsed.hashed:
        message = "days names weekdays, such as SAT,SUN"
        raise SpecError(message, code="bad_value", field=field, token=value)
    return below(7) & parsed.mask


def _clock(value: object, field: str) -> int:
    if isinstance(value, str) and _CLOCK.fullmatch(value):
        minutes = int(value[3:])
        second = int(value[:2]) * 3600 + minutes * 60
        if minutes < 60 and second <= DAY_SECONDS:
            return second
    message = "a time of day is written 22:00, up to 24:00"
    raise SpecError(message, code="bad_value", field=field, token=token_of(value))
