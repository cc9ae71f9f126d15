"""Days of the civil calendar, counted from 1970-01-01, which is day 0."""

from __future__ import annotations

from datetime import date
from typing import Final

DAY_SECONDS: Final = 86_400
EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
MONTH_LENGTHS: Final = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LEAP_MONTH_LENGTHS: Final = (0, 31, 29, *MONTH_LENGTHS[3:])


def day_of(when: date) -> int:
    return when.toordinal() - EPOCH_ORDINAL


def date_of(day: int) -> date:
    return date.fromordinal(day + EPOCH_ORDINAL)


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
