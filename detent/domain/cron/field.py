"""One field of a cron expression: text to members, members to a mask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from detent.domain.bits import union
from detent.domain.cron.members import (
    DayMember,
    Hashed,
    LastDay,
    Member,
    NearestWeekday,
    NthWeekday,
    Span,
)
from detent.domain.cron.units import DAY, HOUR, MINUTE, MONTH, SECOND, WEEKDAY, YEAR, Unit
from detent.domain.errors import SpecError, quoted

_HASHED: Final = re.compile(r"H(?:\((\d{1,2})-(\d{1,2})\))?(?:/(.*))?", re.ASCII | re.IGNORECASE)
_LAST_DAY: Final = re.compile(r"L(?:-(.*))?", re.ASCII | re.IGNORECASE)
_TURNED: Final = re.compile(r"W\d+|\d+L|WL", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True, repr=False)
class Field:
    """One field, as written. `star`: it begins with `*` (or is `?`), which is Vixie's rule for the day fields."""

    unit: Unit
    members: tuple[Member, ...]
    star: bool
    covers: bool
    """A member covers the whole field, its step aside: such a minute or hour makes the expression recurring."""
    mask: int
    """The values of the plain members."""
    days: tuple[DayMember, ...]
    hashed: tuple[Hashed, ...]

    def values(self, identity: str) -> int:
        """The mask with every `H` picked."""
        spans = [member.picked(self.unit, identity) for member in self.hashed]
        return self.mask | union(span.mask(self.unit) for span in spans)

    def text(self) -> str:
        return ",".join(member.text() for member in self.members)

    def __repr__(self) -> str:
        return f"{self.unit}: {self.text()}"


@lru_cache(maxsize=8192)
def parse_field(unit: Unit, text: str) -> Field:
    """Memoised: real fleets write the same few hundred fields over and over."""
    if plain := _PLAIN.get((unit, text)):
        return plain
    members = tuple(_members(unit, text))
    spans: list[Span] = []
    hashed: list[Hashed] = []
    days: list[DayMember] = []
    for member in members:
        if isinstance(member, Span):
            spans.append(member)
        elif isinstance(member, Hashed):
            hashed.append(member)
        else:
            days.append(member)
    wide = [*spans, *(Span(h.first, h.last) for h in hashed if h.step)]
    return Field(
        unit=unit,
        members=members,
        star=text.startswith("*") or text == "?",
        covers=any(span.covers(unit) for span in wide),
        mask=union([span.mask(unit) for span in spans]),
        days=tuple(days),
        hashed=tuple(hashed),
    )


def field_starts(expression: str) -> list[int]:
    """Where each field of an expression begins."""
    return [match.start() for match in re.finditer(r"\S+", expression)]


def _members(unit: Unit, text: str) -> Iterator[Member]:
    if text == "?":
        yield _question_mark(unit)
        return
    position = 0
    for token in text.split(","):
        try:
            yield _member(unit, token)
        except SpecError as error:
            raise error.within(unit.name, position) from None
        position += len(token) + 1


def _member(unit: Unit, token: str) -> Member:
    if not token:
        raise _error(unit, "empty_member", token, "is empty between commas: remove a comma")
    if token[0] in "Hh":
        return _hashed(unit, token)
    if unit is DAY and (match := _LAST_DAY.fullmatch(token)):
        return LastDay(_before_last(token, match[1]))
    if unit is DAY and token[-1] in "Ww":
        return NearestWeekday(0 if token.upper() == "LW" else _nearest(token))
    if unit is WEEKDAY and "#" in token:
        return _nth_weekday(token)
    if unit is WEEKDAY and token[-1] in "Ll" and token[:-1]:
        return NthWeekday(_value(WEEKDAY, token[:-1]) % 7)
    return _span(unit, token)


def _question_mark(unit: Unit) -> Span:
    if unit not in (DAY, WEEKDAY):
        raise _error(unit, "misplaced_question_mark", "?", "belongs in a day field: use * here")
    return Span(unit.low, unit.high, star=True)


def _span(unit: Unit, token: str) -> Span:
    body, slash, step_text = token.partition("/")
    if not body:
        raise _error(unit, "bad_value", token, "begins with its step: write */5 or 10/5")
    if body == "*":
        first, last = unit.low, unit.high
    elif "-" in body:
        first, last = _range(unit, body)
    else:
        first = last = _normal(unit, _value(unit, body))
        if slash:
            last = unit.high
    step = _step(unit, step_text, len(body) + 1) if slash else 1
    return Span(first, last, step if first != last else 1, star=body == "*")


def _normal(unit: Unit, value: int) -> int:
    """Sunday is 0 here, and 7 when written."""
    return 0 if unit is WEEKDAY and value == 7 else value


def _range(unit: Unit, body: str) -> tuple[int, int]:
    parts = body.split("-")
    if len(parts) != 2:
        raise _error(unit, "bad_range", body, "is no range: write two values, such as 1-5")
    first, last = _value(unit, parts[0]), _value(unit, parts[1], len(parts[0]) + 1)
    if unit is YEAR and first > last:
        raise _error(unit, "bad_range", body, "runs backwards: years don't wrap round")
    if unit is WEEKDAY and (first, last) == (0, 7):
        return 0, 6
    return _normal(unit, first), _normal(unit, last)


def _value(unit: Unit, text: str, offset: int = 0) -> int:
    if unit.names and (named := unit.names.get(text.upper())) is not None:
        return named
    if not text.isdigit() or len(text) > 4:
        raise _error(unit, "bad_value", text, _advice(unit, text.upper()), offset)
    value, high = int(text), 7 if unit is WEEKDAY else unit.high
    if not unit.low <= value <= high:
        advice = f"is out of range: allowed is {unit.accepts}"
        raise _error(unit, "out_of_range", text, advice, offset)
    return value


def _advice(unit: Unit, text: str) -> str:
    if not text:
        return f"is missing: allowed is {unit.accepts}"
    if unit is WEEKDAY and text == "L":
        return "needs a weekday before it: 5L is the last Friday, SAT is Saturday"
    if unit is DAY and _TURNED.fullmatch(text):
        return "is not understood: write L, L-3, LW or 15W"
    if other := _unit_of_name(text, unit):
        return f"is a {other.name} and stands in the {unit.name} field: check the order of the fields"
    if "?" in text:
        return "is not understood: ? stands alone in a day field"
    return f"is no {unit.name}: allowed is {unit.accepts}"


def _unit_of_name(text: str, unit: Unit) -> Unit | None:
    return next((u for u in (MONTH, WEEKDAY) if u is not unit and text in u.names), None)


def _step(unit: Unit, text: str, offset: int) -> int:
    if not text:
        raise _error(unit, "bad_step", "/", "has no step behind it: write a whole number from 1", offset - 1)
    if not text.isdigit() or len(text) > 9 or int(text) == 0:
        raise _error(unit, "bad_step", text, "is no step: write a whole number from 1", offset)
    step = int(text)
    if step >= unit.size:
        advice = (
            f"is a step as large as the {unit.name} field, which starts anew each time: {_meant(unit, step)}"
        )
        raise _error(unit, "step_too_large", text, advice, offset)
    return step


def _meant(unit: Unit, step: int) -> str:
    if unit is MINUTE or unit is HOUR:
        letter, larger = ("m", "hour") if unit is MINUTE else ("h", "day")
        if step == unit.size:
            return f"for once an {larger} write 0 here" if unit is MINUTE else "for once a day write 0 here"
        return f"for every {step} {unit.name}s use @every {step}{letter}"
    if unit is DAY:
        return f"for every {step} days use @every {step}d"
    if unit is WEEKDAY:
        return "for once a week name the weekday" if step == 7 else f"use @every {step}d"
    if unit is MONTH or unit is YEAR:
        return f"name the {unit.name}"
    return f"for every {step} seconds use @every {step}s"


def _hashed(unit: Unit, token: str) -> Hashed:
    match = _HASHED.fullmatch(token)
    if match is None:
        raise _error(unit, "bad_value", token, "is not understood: write H, H/15, H(0-29) or H(0-29)/10")
    if unit is YEAR:
        raise _error(unit, "bad_value", token, "can't pick a year: write the year")
    first, last = unit.low, unit.hash_high
    if match[1] is not None:
        first, last = int(match[1]), int(match[2])
        if not unit.low <= first <= last <= unit.high:
            raise _error(
                unit, "out_of_range", token, f"picks outside the field: allowed is {unit.low}-{unit.high}"
            )
    elif match[3] is not None:
        last = unit.high
    step = 0 if match[3] is None else _step(unit, match[3], match.start(3))
    return Hashed(first, last, step, whole=match[1] is None)


def _before_last(token: str, text: str | None) -> int:
    if text is None:
        return 0
    if not text.isdigit() or len(text) > 2 or not 1 <= int(text) <= 30:
        raise _error(DAY, "out_of_range", token, "counts back from the last day: L-1 to L-30")
    return int(text)


def _nearest(token: str) -> int:
    text = token[:-1]
    if not text.isdigit() or len(text) > 2 or not 1 <= int(text) <= 31:
        raise _error(DAY, "bad_value", token, "needs one day, 1W to 31W, or is LW")
    return int(text)


def _nth_weekday(token: str) -> NthWeekday:
    weekday, _, nth = token.partition("#")
    value = _value(WEEKDAY, weekday) % 7
    if nth not in ("1", "2", "3", "4", "5"):
        advice = "counts the weekday within the month: #1 to #5, or 5L for the last Friday"
        raise _error(WEEKDAY, "out_of_range", token, advice)
    return NthWeekday(value, int(nth))


def _plain(unit: Unit, text: str) -> Field:
    span = _span(unit, text)
    return Field(unit, (span,), star=span.star, covers=span.star, mask=span.mask(unit), days=(), hashed=())


def _error(unit: Unit, code: str, token: str, advice: str, offset: int = 0) -> SpecError:
    message = f"{unit.name} {quoted(token)} {advice}"
    return SpecError(message, code=code, field=unit.name, token=token, position=offset)


_PLAIN: Final = {
    (unit, text): _plain(unit, text)
    for unit in (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR)
    for text in ("*", *(str(number) for number in range(unit.low, min(unit.high, 59) + 1)))
}
"""A star or one number: nine fields in ten. With them made beforehand, an expression never seen is as quick to read
as in the fastest library (`make bench`), not only one whose fields were seen before."""
