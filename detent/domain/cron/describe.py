"""A cron expression in English. It reads the parsed fields, so it can't describe what was not understood."""

from __future__ import annotations

from detent.domain.bits import members
from detent.domain.cron.expression import Cron
from detent.domain.cron.field import Field
from detent.domain.cron.members import DayMember, LastDay, NearestWeekday, NthWeekday, Span
from detent.domain.cron.units import MONTHS, WEEKDAYS
from detent.domain.words import and_list, clock, every, ordinal, runs, shortened

_MOST_TIMES = 8


def describe_cron(cron: Cron) -> str:
    """For example: At 02:30, Monday to Friday, in January."""
    parts = [_times(cron), _days(cron), _months(cron), _years(cron)]
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def _times(cron: Cron) -> str:
    seconds, minutes, hours = (list(members(m)) for m in (cron.seconds, cron.minutes, cron.hours))
    times = len(seconds) * len(minutes) * len(hours)
    if times <= _MOST_TIMES:
        clocks = [clock(h * 3600 + m * 60 + s) for h in hours for m in minutes for s in seconds]
        return f"at {and_list(clocks)}"
    if len(hours) == 24 or _step(cron.hour):
        return _in_hours(cron, minutes, seconds)
    whole = _minutes(cron, minutes, seconds)
    if hours == list(range(hours[0], hours[-1] + 1)) and len(hours) > 1:
        last = (hours[-1] * 60 + minutes[-1]) * 60 + seconds[-1]
        first = (hours[0] * 60 + minutes[0]) * 60 + seconds[0]
        return f"{whole}, from {clock(first)} to {clock(last)}"
    names = and_list(runs(hours, lambda h: f"{h:02}:00"))
    return f"{whole}, in the hour{'s' if len(hours) > 1 else ''} from {names}"


def _in_hours(cron: Cron, minutes: list[int], seconds: list[int]) -> str:
    step = _step(cron.hour) or 1
    hour = every(step, "hour") if 24 % step == 0 else f"every {step} hours from midnight"
    if len(minutes) == len(seconds) == 1:
        past = clock(minutes[0] * 60 + seconds[0])[3:]
        if past == "00":
            return f"{hour}, on the hour"
        return (
            f"{hour}, at {'minute ' if len(past) == 2 else ''}{past.lstrip('0') if len(past) == 2 else past}"
        )
    inner = _minutes(cron, minutes, seconds)
    even = _step(cron.minute) and 60 % _step(cron.minute) == 0
    return inner if step == 1 and even else f"{inner} of {hour}"


def _minutes(cron: Cron, minutes: list[int], seconds: list[int]) -> str:
    step = _step(cron.minute)
    if step and 60 % step == 0:
        minute = every(step, "minute")
    elif step:
        minute = f"every {step} minutes from minute 0"
    else:
        minute = f"at minute{'s' if len(minutes) > 1 else ''} {and_list(runs(minutes, str))}"
    if seconds == [0]:
        return minute
    second_step = _step(cron.second)
    if second_step and 60 % second_step == 0:
        second = every(second_step, "second")
        return second if step == 1 else f"{second}, {minute}"
    return f"{minute}, at second{'s' if len(seconds) > 1 else ''} {and_list(runs(seconds, str))}"


def _step(field: Field) -> int:
    """The step of a field that is a star alone, else 0."""
    match field.members:
        case (Span(star=True, step=step),):
            return step
        case _:
            return 0


def _days(cron: Cron) -> str:
    by_day, by_weekday = _month_days(cron), _weekdays(cron)
    any_day, any_weekday = _step(cron.day) == 1, _step(cron.weekday) == 1
    if any_day and any_weekday:
        return "" if cron.recurring else "every day"
    if any_weekday:
        return by_day
    if any_day:
        return by_weekday
    if cron.day.star or cron.weekday.star:
        return f"{by_day} and only if it is {by_weekday.removeprefix('on ')}"
    return f"{by_day} or {by_weekday}"


def _month_days(cron: Cron) -> str:
    step = _step(cron.day)
    if step > 1:
        return f"on every {ordinal(step)} day of the month from the 1st"
    names = runs(members(cron.days), lambda day: f"the {ordinal(day)}")
    names += [_special(day) for day in cron.day.days]
    return f"on {and_list(names)} of the month" if names else ""


def _weekdays(cron: Cron) -> str:
    numbers = sorted(members(cron.weekdays), key=lambda day: (day - 1) % 7)  # the week as read: Monday first
    names = runs([(day - 1) % 7 for day in numbers], lambda day: WEEKDAYS[(day + 1) % 7])
    names += [f"{_special(day)} of the month" for day in cron.weekday.days]
    if len(names) == 1 and " to " in names[0]:
        return names[0]
    return f"on {and_list(names)}" if names else ""


def _special(day: DayMember) -> str:
    match day:
        case LastDay(0):
            return "the last day"
        case LastDay(before):
            return f"the {ordinal(before + 1)} to last day"
        case NearestWeekday(0):
            return "the last working day (Monday to Friday)"
        case NearestWeekday(number):
            return f"the working day (Monday to Friday) nearest to the {ordinal(number)}"
        case NthWeekday(weekday, 0):
            return f"the last {WEEKDAYS[weekday]}"
        case NthWeekday(weekday, nth):
            return f"the {ordinal(nth)} {WEEKDAYS[weekday]}"


def _months(cron: Cron) -> str:
    if _step(cron.month) == 1:
        return ""
    return f"in {and_list(runs(members(cron.months), lambda month: MONTHS[month - 1]))}"


def _years(cron: Cron) -> str:
    return f"in {and_list(shortened(runs(members(cron.years), str)))}" if cron.years else ""
