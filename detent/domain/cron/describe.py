"""A cron expression in English. It reads the parsed fields, so it can't describe what was not understood."""

from __future__ import annotations

from detent.domain.bits import below, members
from detent.domain.cron.expression import Cron
from detent.domain.cron.field import Field
from detent.domain.cron.members import DayMember, LastDay, NearestWeekday, NthWeekday, Span
from detent.domain.cron.units import DAY, MONTHS, WEEKDAYS
from detent.domain.words import and_list, clock, every, ordinal, runs, shortened

_MOST_TIMES = 8
_MOST_DAYS = 5
_ANY_DAY, _ANY_WEEKDAY = below(32) - 1, below(7)


def describe_cron(cron: Cron) -> str:
    """For example: At 02:30, Monday to Friday, in January."""
    parts = [_times(cron), _days(cron), _months(cron), _years(cron)]
    text = ", ".join(filter(None, parts))
    return text[0].upper() + text[1:]


def _times(cron: Cron) -> str:
    seconds, minutes, hours = (list(members(m)) for m in (cron.seconds, cron.minutes, cron.hours))
    if _few(cron):
        clocks = [clock(h * 3600 + m * 60 + s) for h in hours for m in minutes for s in seconds]
        return f"at {and_list(clocks)}"
    if len(hours) == 24 or _step(cron.hour):
        return _in_hours(cron, minutes, seconds)
    whole = _minutes(cron, minutes, seconds)
    begin, end = _in_a_row(hours)
    first = clock(begin * 3600 + minutes[0] * 60 + seconds[0])
    last = clock(end * 3600 + minutes[-1] * 60 + seconds[-1])
    if len(hours) == (end - begin) % 24 + 1:
        return f"{whole}, from {first} to {last}"
    step = hours[1] - hours[0]
    if hours == list(range(begin, end + 1, step)) and len(minutes) == len(seconds) == 1:
        return f"every {step} hours from {first} to {last}"
    names = and_list(runs(hours, lambda h: f"{h:02}:00"))
    return f"{whole}, in the hours that begin at {names}"


def _few(cron: Cron) -> bool:
    """So few times a day that they are simply listed."""
    return cron.seconds.bit_count() * cron.minutes.bit_count() * cron.hours.bit_count() <= _MOST_TIMES


def _in_a_row(hours: list[int]) -> tuple[int, int]:
    """The first and the last of hours that follow each other, perhaps over midnight."""
    breaks = [n for n in range(1, len(hours)) if hours[n] > hours[n - 1] + 1]
    if len(breaks) == 1 and hours[0] == 0 and hours[-1] == 23:
        return hours[breaks[0]], hours[breaks[0] - 1]
    return hours[0], hours[-1]


def _in_hours(cron: Cron, minutes: list[int], seconds: list[int]) -> str:
    step = _step(cron.hour) or 1
    if len(minutes) == len(seconds) == 1:
        hour = every(step, "hour") if 24 % step == 0 else f"every {step} hours from midnight"
        if minutes == seconds == [0]:
            return f"{hour}, on the hour"
        past = clock(minutes[0] * 60 + seconds[0])[3:]
        return f"{hour}, at {past}" if seconds[0] else f"{hour}, at minute {minutes[0]}"
    inner = _minutes(cron, minutes, seconds)
    if step > 1:
        return f"{inner} of every {ordinal(step)} hour from midnight"
    even = _step(cron.minute) and 60 % _step(cron.minute) == 0
    return inner if even else f"{inner} of every hour"


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
    any_day, any_weekday = cron.days == _ANY_DAY, cron.weekdays == _ANY_WEEKDAY
    either = not (cron.day.star or cron.weekday.star)
    if (any_day and any_weekday) or (either and (any_day or any_weekday)):
        return "every day" if _few(cron) or not cron.recurring else ""
    by_day, by_weekday = _month_days(cron), _weekdays(cron)
    if any_weekday:
        return by_day
    if any_day:
        return by_weekday
    if either:
        return f"{by_day} or {by_weekday}"
    return f"{by_day} and only if it is {by_weekday.removeprefix('on ')}"


def _month_days(cron: Cron) -> str:
    match cron.day.members:
        case (Span(first, last, step),) if step > 1 and cron.days.bit_count() > _MOST_DAYS:
            until = "" if last == DAY.high else f" to the {ordinal(last)}"
            return f"on every {ordinal(step)} day of the month from the {ordinal(first)}{until}"
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
