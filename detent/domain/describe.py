"""Triggers in words."""

from __future__ import annotations

from collections.abc import Iterable

from detent.domain.at import At
from detent.domain.cron.describe import describe_cron
from detent.domain.cron.expression import Cron
from detent.domain.cron.units import MONTHS
from detent.domain.duration import words_of
from detent.domain.every import Every
from detent.domain.instant import format_instant, instant_of
from detent.domain.rrule import STEP, Frequency, Recurrence
from detent.domain.rrule_days import DayParts
from detent.domain.trigger import Rule, Trigger, Triggers
from detent.domain.words import and_list, clock, every, ordinal, runs, shortened

_UNITS = {
    Frequency.YEARLY: "year",
    Frequency.MONTHLY: "month",
    Frequency.WEEKLY: "week",
    Frequency.DAILY: "day",
    Frequency.HOURLY: "hour",
    Frequency.MINUTELY: "minute",
    Frequency.SECONDLY: "second",
}
_MONDAY_FIRST = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def describe(triggers: Triggers) -> str:
    """One sentence a trigger."""
    text = "; ".join(describe_trigger(trigger) for trigger in triggers.each)
    if triggers.max_firings is None:
        return text
    return f"{text}; {'once' if triggers.max_firings == 1 else f'{triggers.max_firings} times'} in all"


def describe_trigger(trigger: Trigger) -> str:
    parts = [describe_rule(trigger.rule)]
    if trigger.start_at is not None and not isinstance(trigger.rule, Every):
        parts.append(f"from {format_instant(trigger.start_at)}")
    if trigger.end_at is not None:
        parts.append(f"until {format_instant(trigger.end_at)}")
    if trigger.exclude is not None:
        parts.append("except where its calendar excludes it")
    return ", ".join(parts)


def describe_rule(rule: Rule) -> str:
    """In the wall time of its zone, which is named unless it is UTC."""
    match rule:
        case At(instant):
            return f"Once, at {format_instant(instant)}"
        case Every(period, anchor):
            return f"Every {words_of(period)}, counted from {format_instant(anchor)}"
        case _:
            pattern = rule.pattern
            text = describe_cron(pattern) if isinstance(pattern, Cron) else _recurrence(pattern)
            return text if rule.zone.name == "UTC" else f"{text} ({rule.zone.name})"


def _recurrence(rule: object) -> str:
    assert isinstance(rule, Recurrence)
    parts = [every(rule.interval, _UNITS[rule.frequency]), _days(rule.days), _months(rule.days), _times(rule)]
    if rule.positions:
        picks = [f"the {_nth(p)}" for p in sorted(rule.positions, key=lambda p: (p < 0, p))]
        parts.append(f"of these only {and_list(picks)}")
    if rule.count is not None:
        parts.append("once" if rule.count == 1 else f"{rule.count} times")
    if rule.until is not None:
        parts.append(f"until {format_instant(instant_of(rule.until))[:-1].replace('T', ' ')}")
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def _nth(number: int) -> str:
    """1st, and below zero last, 2nd to last."""
    if number > 0:
        return ordinal(number)
    return "last" if number == -1 else f"{ordinal(-number)} to last"


def _days(by: DayParts) -> str:
    parts = []
    if by.weekdays:
        parts.append(f"on {and_list(_weekdays(by))}")
    if by.month_days:
        names = runs(sorted(d for d in by.month_days if d > 0), lambda d: f"the {ordinal(d)}")
        parts.append(f"on {and_list(names + _from_last(by.month_days, 'day'))} of the month")
    if by.year_days:
        names = runs(sorted(d for d in by.year_days if d > 0), lambda d: f"day {d}")
        parts.append(f"on {and_list(names + _from_last(by.year_days, 'day'))} of the year")
    if by.weeks:
        names = runs(sorted(w for w in by.weeks if w > 0), lambda w: f"week {w}")
        parts.append(f"in {and_list(names + _from_last(by.weeks, 'week'))}")
    return ", ".join(parts)


def _from_last(numbers: Iterable[int], unit: str) -> list[str]:
    return [f"the {_nth(n)} {unit}" for n in sorted(numbers) if n < 0]


def _weekdays(by: DayParts) -> list[str]:
    names = runs(sorted(d.weekday for d in by.weekdays if not d.nth), lambda d: _MONDAY_FIRST[d])
    of_year = " of the year" if by.nth_of_year else ""
    nths = sorted(d for d in by.weekdays if d.nth)
    return names + [f"the {_nth(d.nth)} {_MONDAY_FIRST[d.weekday]}{of_year}" for d in nths]


def _months(by: DayParts) -> str:
    if not by.months:
        return ""
    return f"in {and_list(runs(sorted(by.months), lambda month: MONTHS[month - 1]))}"


def _times(rule: Recurrence) -> str:
    if rule.times is not None and (rule.frequency not in STEP or rule.limited):
        return f"at {and_list(shortened([clock(second) for second in rule.times]))}"
    minutes = sorted(rule.minutes) if rule.frequency is Frequency.HOURLY else []
    seconds = sorted(rule.seconds) if rule.frequency is not Frequency.SECONDLY else []
    parts = [_within("minute", minutes), _within("second", seconds) if seconds != [0] else ""]
    return ", ".join(filter(None, parts))


def _within(unit: str, numbers: list[int]) -> str:
    if not numbers:
        return ""
    return f"at {unit}{'s' if len(numbers) > 1 else ''} {and_list(shortened(runs(numbers, str)))}"
