"""Triggers in words."""

from __future__ import annotations

from detent.domain.at import At
from detent.domain.cron.describe import describe_cron
from detent.domain.cron.expression import Cron
from detent.domain.cron.units import MONTHS
from detent.domain.duration import words_of
from detent.domain.every import Every
from detent.domain.instant import format_instant, instant_of
from detent.domain.rrule import STEP, Frequency, Recurrence
from detent.domain.rrule_days import ByDay, DayParts
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
        picks = [ordinal(p) if p > 0 else _from_last(-p) for p in sorted(rule.positions)]
        parts.append(f"of these only the {and_list(picks)}")
    if rule.count is not None:
        parts.append("once" if rule.count == 1 else f"{rule.count} times")
    if rule.until is not None:
        parts.append(f"until {format_instant(instant_of(rule.until))[:-1].replace('T', ' ')}")
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def _from_last(number: int) -> str:
    return "last" if number == 1 else f"{ordinal(number)} to last"


def _days(by: DayParts) -> str:
    parts = []
    if by.weekdays:
        parts.append(f"on {and_list(_weekdays(by.weekdays))}")
    if by.month_days:
        names = runs(sorted(d for d in by.month_days if d > 0), lambda d: f"the {ordinal(d)}")
        names += [f"the {_from_last(-d)} day" for d in sorted(by.month_days) if d < 0]
        parts.append(f"on {and_list(names)} of the month")
    if by.year_days:
        parts.append(f"on day {and_list(map(str, sorted(by.year_days)))} of the year")
    if by.weeks:
        parts.append(f"in week {and_list(map(str, sorted(by.weeks)))}")
    return ", ".join(parts)


def _weekdays(days: frozenset[ByDay]) -> list[str]:
    names = runs(sorted(d.weekday for d in days if not d.nth), lambda d: _MONDAY_FIRST[d])
    return names + [
        f"the {ordinal(d.nth) if d.nth > 0 else _from_last(-d.nth)} {_MONDAY_FIRST[d.weekday]}"
        for d in sorted(days)
        if d.nth
    ]


def _months(by: DayParts) -> str:
    if not by.months:
        return ""
    return f"in {and_list(runs(sorted(by.months), lambda month: MONTHS[month - 1]))}"


def _times(rule: Recurrence) -> str:
    if (rule.frequency in STEP and not rule.limited) or rule.times is None:
        return ""
    return f"at {and_list(shortened([clock(second) for second in rule.times]))}"
