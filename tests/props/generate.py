"""Strategies: expressions together with what they mean, and instants near clock changes."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from hypothesis import strategies as st

from detent.domain.zone import zone, zone_names
from tests.props.oracle import Sets

FROM, TO = datetime(1990, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()


class Change(NamedTuple):
    zone: str
    at: datetime


class Part(NamedTuple):
    """A field: its text, its values, whether a member covers it, whether it begins with a star."""

    text: str
    values: frozenset[int]
    covers: bool
    star: bool
    special: tuple[Callable[[date], bool], ...] = ()
    """Which days its members such as `L` and `2#1` name."""

    def has(self, value: int, day: date) -> bool:
        return value in self.values or any(special(day) for special in self.special)


@cache
def changes() -> list[Change]:
    """Every clock change of every zone from 1990 to 2040, zones with the same rules once."""
    seen, found = set(), []
    for name in sorted(zone_names()):
        rules = zone(name)
        first, last = (rules.span_at(int(edge.timestamp()) - 1) for edge in (FROM, TO))
        recent = rules.starts[first + 1 : last + 1]
        if (recent, rules.offsets[first : last + 1]) in seen:
            continue
        seen.add((recent, rules.offsets[first : last + 1]))
        found += [Change(name, datetime.fromtimestamp(s, UTC)) for s in recent]
    return found


STRANGE = (
    Change("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),  # 30 minutes
    Change("Australia/Lord_Howe", datetime(2027, 4, 3, 15, 0, tzinfo=UTC)),
    Change("Antarctica/Troll", datetime(2027, 3, 28, 1, 0, tzinfo=UTC)),  # two hours
    Change("Antarctica/Troll", datetime(2026, 10, 25, 1, 0, tzinfo=UTC)),
    Change("America/Havana", datetime(2025, 3, 9, 5, 0, tzinfo=UTC)),  # at midnight
    Change("Asia/Beirut", datetime(2027, 3, 27, 22, 0, tzinfo=UTC)),
    Change("America/Nuuk", datetime(2027, 3, 28, 1, 0, tzinfo=UTC)),  # before midnight
    Change("Pacific/Apia", datetime(2011, 12, 30, 10, 0, tzinfo=UTC)),  # a whole day
    Change("Pacific/Kwajalein", datetime(1993, 8, 21, 12, 0, tzinfo=UTC)),
    Change("Asia/Pyongyang", datetime(2018, 5, 4, 15, 0, tzinfo=UTC)),  # standard time by law
    Change("America/Caracas", datetime(2016, 5, 1, 7, 0, tzinfo=UTC)),
    Change("Europe/Volgograd", datetime(2020, 12, 26, 23, 0, tzinfo=UTC)),
)


def near_changes() -> st.SearchStrategy[Change]:
    return st.one_of(st.sampled_from(STRANGE), st.sampled_from(changes()))


@st.composite
def member(draw, low: int, high: int, names: list[str]) -> Part:
    size = high - low + 1
    kind = draw(st.sampled_from(["value", "value", "range", "range", "star", "from"]))
    step = draw(st.one_of(st.just(1), st.integers(1, size - 1)))
    first, last = draw(st.integers(low, high)), draw(st.integers(low, high))
    suffix = "" if step == 1 else f"/{step}"
    if kind == "star":
        return Part(f"*{suffix}", frozenset(range(low, high + 1, step)), covers=True, star=True)
    if kind == "value":
        return Part(_named(draw, first, low, names), frozenset((first,)), covers=False, star=False)
    if kind == "from":
        text = f"{first}/{step}"
        return Part(text, frozenset(range(first, high + 1, step)), covers=first == low, star=False)
    length = (last - first) % size + 1
    values = frozenset(low + (first - low + n) % size for n in range(0, length, step))
    text = f"{_named(draw, first, low, names)}-{_named(draw, last, low, names)}{suffix}"
    return Part(text, values, covers=length == size, star=False)


def _named(draw, value: int, low: int, names: list[str]) -> str:
    if names and draw(st.booleans()):
        name = names[value - low]
        return draw(st.sampled_from([name, name.lower(), name.title()]))
    return str(value)


@st.composite
def special_day(draw) -> Part:
    back, near = draw(st.integers(1, 30)), draw(st.integers(1, 31))
    text, holds = draw(
        st.sampled_from([
            ("L", lambda day: day.day == _length(day)),
            (f"L-{back}", lambda day: day.day == _length(day) - back),
            ("LW", lambda day: day.weekday() < 5 and all(_next(day, n).weekday() > 4 for n in _rest_of_month(day))),
            (f"{near}W", lambda day: day.day == _nearest_weekday(day, near)),
        ])
    )  # fmt: skip
    return Part(
        draw(st.sampled_from([text, text.lower()])), frozenset(), covers=False, star=False, special=(holds,)
    )


@st.composite
def special_weekday(draw) -> Part:
    weekday, nth = draw(st.integers(0, 7)), draw(st.integers(1, 5))
    name = draw(st.sampled_from([str(weekday), WEEKDAYS[weekday % 7], WEEKDAYS[weekday % 7].lower()]))
    text, holds = draw(
        st.sampled_from([
            (f"{name}#{nth}", lambda day: (day.day + 6) // 7 == nth),
            (f"{name}L", lambda day: _next(day, 7).month != day.month),
        ])
    )  # fmt: skip
    here = weekday % 7
    return Part(
        text,
        frozenset(),
        covers=False,
        star=False,
        special=(lambda day: day.isoweekday() % 7 == here and holds(day),),
    )


def _length(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _next(day: date, days: int) -> date:
    return date(day.year, day.month, day.day) + timedelta(days)


def _rest_of_month(day: date) -> range:
    return range(1, _length(day) - day.day + 1)


def _nearest_weekday(day: date, number: int) -> int | None:
    """Looked for around that day: one before, one after, two after, two before; never in another month."""
    if number > _length(day):
        return None
    weekdays = {n for n in range(1, _length(day) + 1) if date(day.year, day.month, n).weekday() < 5}
    return next(number + step for step in (0, -1, 1, 2, -2) if number + step in weekdays)


@st.composite
def part(draw, low: int, high: int, names: list[str] | None = None, special=None) -> Part:
    one = member(low, high, names or [])
    parts = draw(st.lists(one if special is None else st.one_of(one, special), min_size=1, max_size=3))
    return Part(
        ",".join(p.text for p in parts),
        frozenset().union(*(p.values for p in parts)),
        covers=any(p.covers for p in parts),
        star=parts[0].star,
        special=tuple(s for p in parts for s in p.special),
    )


any_part = Part("*", frozenset(range(100)), covers=True, star=True)


def day_part(low: int, high: int, names: list[str] | None = None, special=None) -> st.SearchStrategy[Part]:
    """A star half of the time, so that something fires."""
    return st.one_of(st.just(any_part), part(low, high, names, special))


@st.composite
def year_part(draw) -> Part:
    first, length, step = draw(st.integers(1970, 2040)), draw(st.integers(0, 59)), draw(st.integers(1, 3))
    values = frozenset(range(first, first + length + 1, step))
    text = f"{first}-{first + length}" + ("" if step == 1 else f"/{step}")
    return Part(text, values, covers=False, star=False)


@st.composite
def expressions(draw, *, with_seconds: bool = False) -> Sets:
    """Five fields of everything but `H`, which has tests of its own; with seconds six, or seven with a year."""
    second = draw(part(0, 59)) if with_seconds else Part("0", frozenset((0,)), covers=False, star=False)
    minute, hour = draw(part(0, 59)), draw(part(0, 23))
    day, month = draw(day_part(1, 31, special=special_day())), draw(day_part(1, 12, MONTHS))
    weekday = draw(day_part(0, 6, WEEKDAYS, special_weekday()))
    year = draw(st.one_of(st.none(), year_part())) if with_seconds else None
    parts = [minute, hour, day, month, weekday]
    if with_seconds:
        parts = [second, *parts, *([year] if year else [])]
    return Sets(
        text=" ".join(p.text for p in parts),
        seconds=second.values,
        minutes=minute.values,
        hours=hour.values,
        days=_days(day, month, weekday, year),
        recurring=minute.covers or hour.covers,
        step=timedelta(seconds=1) if with_seconds else timedelta(minutes=1),
    )


def _days(day: Part, month: Part, weekday: Part, year: Part | None) -> Callable[[datetime], bool]:
    def holds(wall: datetime) -> bool:
        if wall.month not in month.values or (year and wall.year not in year.values):
            return False
        by_day, by_weekday = day.has(wall.day, wall), weekday.has(wall.isoweekday() % 7, wall)
        return by_day and by_weekday if day.star or weekday.star else by_day or by_weekday

    return holds


gaps = st.sampled_from(["at_transition", "shift", "skip"])
folds = st.sampled_from(["first", "last", "both"])
