"""Strategies: expressions together with what they mean, and instants near clock changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
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


@cache
def changes() -> list[Change]:
    """Every clock change of every zone from 1990 to 2040, zones with the same rules once."""
    seen, found = set(), []
    for name in sorted(zone_names()):
        shifts = zone(name)
        recent = tuple(s for s in shifts.starts if FROM.timestamp() <= s < TO.timestamp())
        if (recent, shifts.offsets[-len(recent) - 1 :]) in seen:
            continue
        seen.add((recent, shifts.offsets[-len(recent) - 1 :]))
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
def part(draw, low: int, high: int, names: list[str] | None = None) -> Part:
    parts = draw(st.lists(member(low, high, names or []), min_size=1, max_size=3))
    return Part(
        ",".join(p.text for p in parts),
        frozenset().union(*(p.values for p in parts)),
        covers=any(p.covers for p in parts),
        star=parts[0].star,
    )


any_part = Part("*", frozenset(range(100)), covers=True, star=True)


def day_part(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[Part]:
    """A star half of the time, so that something fires."""
    return st.one_of(st.just(any_part), part(low, high, names))


@st.composite
def expressions(draw, *, with_seconds: bool = False) -> Sets:
    """Five or six fields of everything but the special day members, which have tests of their own."""
    second = draw(part(0, 59)) if with_seconds else Part("0", frozenset((0,)), covers=False, star=False)
    minute, hour = draw(part(0, 59)), draw(part(0, 23))
    day, month = draw(day_part(1, 31)), draw(day_part(1, 12, MONTHS))
    weekday = draw(day_part(0, 6, WEEKDAYS))
    parts = [minute, hour, day, month, weekday]
    text = " ".join(p.text for p in ([second, *parts] if with_seconds else parts))
    return Sets(
        text=text,
        seconds=second.values,
        minutes=minute.values,
        hours=hour.values,
        days=_days(day, month, weekday),
        recurring=minute.covers or hour.covers,
        step=timedelta(seconds=1) if with_seconds else timedelta(minutes=1),
    )


def _days(day: Part, month: Part, weekday: Part) -> Callable[[datetime], bool]:
    def holds(wall: datetime) -> bool:
        if wall.month not in month.values:
            return False
        by_day, by_weekday = wall.day in day.values, wall.isoweekday() % 7 in weekday.values
        return by_day and by_weekday if day.star or weekday.star else by_day or by_weekday

    return holds


gaps = st.sampled_from(["at_transition", "shift", "skip"])
folds = st.sampled_from(["first", "last", "both"])
