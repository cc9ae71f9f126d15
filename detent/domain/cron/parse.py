"""From the text of a cron expression to its value, or to an error that says what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from detent.domain.bits import members
from detent.domain.cron.expression import Cron
from detent.domain.cron.field import Field, parse_field
from detent.domain.cron.foreign import advice_on
from detent.domain.cron.units import DAY, HOUR, MINUTE, MONTH, MONTHS, SECOND, WEEKDAY, YEAR, Unit
from detent.domain.errors import SpecError, quoted
from detent.domain.limits import MAX_EXPRESSION

ALIASES: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_UNITS: Final = (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR)
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
        raise _explained(text, expression, error) from None
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
            token=text[:20],
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
    units = _UNITS[1:6] if len(fields) == 5 else _UNITS[: len(fields)]
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
        raise error.within(_FIELD, _starts(expression)[number]) from None


def _starts(expression: str) -> list[int]:
    return [match.start() for match in re.finditer(r"\S+", expression)]


def _wrong_count(expression: str, fields: Sequence[str]) -> SpecError:
    if len(fields) < 5:
        token, position = "", len(expression)
    else:
        token, position = fields[7], _starts(expression)[7]
    return SpecError(
        f"{len(fields)} field{'s' if len(fields) != 1 else ''}, but an expression has 5 (minute hour day month"
        " weekday), 6 with seconds first, or 7 with the year last",
        code="wrong_field_count",
        field=_FIELD,
        token=token,
        position=position,
    )


def _explained(text: str, expression: str, error: SpecError) -> SpecError:
    """The error, or a better one where this is a line of a crontab or another tool's notation."""
    start = text.index(expression)
    if expression.startswith("@") and not expression.lower().startswith(("@every", "@reboot")):
        return _unknown_alias(expression, start)
    advice = advice_on(expression)
    if advice is None:
        return _comment(expression, start) or _command(text, expression, start) or error.within(_FIELD, start)
    return SpecError(
        f"{quoted(expression)} is no cron expression: {advice}",
        code="foreign_notation",
        field=_FIELD,
        token=expression,
        position=start,
    )


def _unknown_alias(expression: str, start: int) -> SpecError:
    near = get_close_matches(expression.lower(), ALIASES, n=1)
    advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(ALIASES)}"
    return SpecError(
        f"{quoted(expression)} is no alias: {advice}",
        code="unknown_alias",
        field=_FIELD,
        token=expression,
        position=start,
    )


def _comment(expression: str, start: int) -> SpecError | None:
    """A field that begins with # behind the fifth: `2#1` has its weekday before it."""
    fields = expression.split()
    at = next((n for n, field in enumerate(fields) if n >= 5 and field.startswith("#")), None)
    if at is None:
        return None
    position = _starts(expression)[at]
    return SpecError(
        "a comment follows the fields: an expression is the fields alone",
        code="foreign_notation",
        field=_FIELD,
        token=expression[position:],
        position=start + position,
    )


def _command(text: str, expression: str, start: int) -> SpecError | None:
    fields = expression.split()
    if len(fields) < 6 or not any("/" in f[:2] or (f[0].isalpha() and len(f) > 3) for f in fields[5:]):
        return None
    try:
        for unit, field in zip(_UNITS[1:6], fields, strict=False):
            parse_field(unit, field)
    except SpecError:
        return None
    position = start + _starts(expression)[5]
    return SpecError(
        "a command follows the five fields: an expression is the fields alone",
        code="foreign_notation",
        field=_FIELD,
        token=text[position:],
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
        position=text.index(stripped) + _starts(stripped)[at],
    )
