"""From the text of a cron expression to its value, or to an error that says what to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detent.domain.bits import members
from detent.domain.cron.expression import Cron
from detent.domain.cron.field import Field, field_starts, parse_field
from detent.domain.cron.foreign import explained
from detent.domain.cron.units import ALIASES, MONTHS, SECOND, UNITS, YEAR, Unit
from detent.domain.errors import SpecError, quoted
from detent.domain.limits import MAX_EXPRESSION

_SECOND_0: Final = parse_field(SECOND, "0")
_ANY_YEAR: Final = parse_field(YEAR, "*")
_STRIPPED: Final = " \t\r\n"
_FIELD = "cron"


def parse_cron(text: object, identity: str = "") -> Cron:
    """5 fields; 6 with seconds first; 7 with a year last; or an alias such as @daily."""
    expression = clean_expression(text, _FIELD)
    body = ALIASES.get(expression.lower(), expression) if expression[0] == "@" else expression
    fields = body.split()
    try:
        cron = _cron(expression, fields, identity)
    except SpecError as error:
        assert isinstance(text, str)
        raise explained(expression, error).within(_FIELD, text.index(expression)) from None
    if _may_never_fire(cron) and cron.never():
        assert isinstance(text, str)
        raise _never_fires(text, cron, fields)
    return cron


def clean_expression(text: object, field: str) -> str:
    """Without surrounding white space; refused if it is empty, long or has more than printable ASCII in it."""
    if not isinstance(text, str):
        raise SpecError("an expression is a text such as 0 2 * * *", code="not_a_text", field=field)
    if len(text) > MAX_EXPRESSION:
        raise SpecError(
            f"an expression has at most {MAX_EXPRESSION} characters, this one has {len(text)}",
            code="too_long",
            field=field,
            token=text[MAX_EXPRESSION : MAX_EXPRESSION + 20],
            position=MAX_EXPRESSION,
        )
    stripped = text.strip(_STRIPPED)
    if not (stripped.isascii() and stripped.isprintable()):
        _refuse_characters(text, stripped, field)
    if not stripped:
        raise SpecError(
            "the expression is empty: write five fields, such as 0 2 * * *",
            code="empty",
            field=field,
        )
    return stripped


def _refuse_characters(text: str, stripped: str, field: str) -> None:
    """Tabs between fields are as good as blanks; nothing else is."""
    for position, character in enumerate(stripped, text.index(stripped)):
        if character != "\t" and not " " <= character <= "~":
            raise SpecError(
                f"{quoted(character)} is no printable ASCII character: type the expression anew, with plain blanks",
                code="bad_character",
                field=field,
                token=character,
                position=position,
            )


def _cron(expression: str, fields: Sequence[str], identity: str) -> Cron:
    if not 5 <= len(fields) <= 7:
        raise _wrong_count(expression, fields)
    units = UNITS[1:6] if len(fields) == 5 else UNITS[: len(fields)]
    parsed = [_field(expression, n, unit, f) for n, (unit, f) in enumerate(zip(units, fields, strict=True))]
    if len(parsed) == 5:
        parsed.insert(0, _SECOND_0)
    if len(parsed) == 6:
        parsed.append(_ANY_YEAR)
    if fields.count("?") == 2:
        raise SpecError(
            "? stands in both day fields: one of them has to say the day, or be *",
            code="misplaced_question_mark",
            field=_FIELD,
            token="?",
            position=expression.rindex("?"),
        )
    second, minute, hour, day, month, weekday, year = parsed
    hashed = any(f.hashed for f in parsed)
    return Cron(second, minute, hour, day, month, weekday, year, identity if hashed else "")


def _field(expression: str, number: int, unit: Unit, text: str) -> Field:
    try:
        return parse_field(unit, text)
    except SpecError as error:
        raise error.within(_FIELD, field_starts(expression)[number]) from None


def _wrong_count(expression: str, fields: Sequence[str]) -> SpecError:
    if len(fields) < 5:
        token, position = "", len(expression)
    else:
        token, position = fields[7], field_starts(expression)[7]
    return SpecError(
        f"{len(fields)} field{'s' if len(fields) != 1 else ''}, but an expression has 5 (minute hour day month"
        " weekday), 6 with seconds first, or 7 with the year last",
        code="wrong_field_count",
        field=_FIELD,
        token=token,
        position=position,
    )


def _may_never_fire(cron: Cron) -> bool:
    """Only expressions without any day up to the 28th and without any weekday can name days that don't exist."""
    return not cron.days & 0x1FFFFFFE and (bool(cron.days) or bool(cron.day.days))


def _never_fires(text: str, cron: Cron, fields: Sequence[str]) -> SpecError:
    day = cron.day.text()
    names = [MONTHS[number - 1] for number in members(cron.months)]
    months = " or ".join(names) if len(names) < len(MONTHS) else "month"
    weekday = "" if cron.weekday.text() == "*" else f" that is a weekday {cron.weekday.text()}"
    at = len(fields) - (3 if len(fields) < 7 else 4)
    stripped = text.strip(_STRIPPED)
    return SpecError(
        f"never fires: no {months} has a day {day}{weekday}",
        code="never_fires",
        field=_FIELD,
        token=fields[at],
        position=text.index(stripped) + field_starts(stripped)[at],
    )
