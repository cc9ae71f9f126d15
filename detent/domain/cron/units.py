"""The seven fields that a cron expression can have, with their ranges and names, and the aliases of whole ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def _names(words: tuple[str, ...], first: int) -> Mapping[str, int]:
    """Three letters or in full, in capitals."""
    numbered = [(word.upper(), number) for number, word in enumerate(words, first)]
    return {spelling: n for word, n in numbered for spelling in (word[:3], word)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unit:
    """One kind of field. There are exactly seven, so identity is equality."""

    name: str
    low: int
    high: int
    accepts: str
    names: Mapping[str, int]
    hash_high: int
    """The largest value that `H` picks: day 28, so that no month is left out."""

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def __repr__(self) -> str:
        return self.name


def _unit(
    name: str,
    low: int,
    high: int,
    accepts: str = "",
    *,
    names: Mapping[str, int] | None = None,
    hash_high: int | None = None,
) -> Unit:
    return Unit(
        name=name,
        low=low,
        high=high,
        accepts=accepts or f"{low}-{high}",
        names=names or {},
        hash_high=high if hash_high is None else hash_high,
    )


SECOND: Final = _unit("second", 0, 59)
MINUTE: Final = _unit("minute", 0, 59)
HOUR: Final = _unit("hour", 0, 23)
DAY: Final = _unit("day of month", 1, 31, "1-31, L, L-3, LW or 15W", hash_high=28)
MONTH: Final = _unit("month", 1, 12, "1-12 or JAN-DEC", names=_names(MONTHS, 1))
WEEKDAY: Final = _unit(
    "day of week", 0, 6, "0-7 or SUN-SAT (0 and 7 are Sunday), 5L or 2#1", names=_names(WEEKDAYS, 0)
)
YEAR: Final = _unit("year", 1970, 2099)
UNITS: Final = (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR)

ALIASES: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
