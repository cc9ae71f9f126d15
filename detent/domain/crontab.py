"""Crontabs as text: their lines, for lint and later for import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from detent.domain.errors import SpecError
from detent.domain.zone import Zone, zone

_ASSIGNMENT: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|\"[^\"]*\"|'[^']*')\s*=(.*)")
_ALIAS: Final = re.compile(r"\s*(@every\s+\S+|@\S+)(.*)", re.IGNORECASE)
_FIELDS: Final = re.compile(r"(\s*(?:\S+\s+){4}\S+)(.*)")
_ZONE_VARIABLE: Final = "CRON_TZ"
"""TZ is the environment of the command: it moves no schedule."""
_MAX_LINE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line that schedules something. The expression starts at `column` of the line."""

    line: int
    text: str
    expression: str
    column: int
    zone: Zone
    command: str


@dataclass(frozen=True, slots=True)
class BadLine:
    line: int
    text: str
    error: SpecError


def read_crontab(text: str, default: Zone, *, system: bool = False) -> Iterator[Entry | BadLine]:
    """The entries in order. `system`: a user name stands between fields and command, as in /etc/crontab."""
    where = default
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            if assignment := _ASSIGNMENT.fullmatch(line[:_MAX_LINE]):
                if assignment[1].strip("\"'") == _ZONE_VARIABLE:
                    where = _zone(assignment) or default
            else:
                yield _entry(number, line, where, system=system)
        except SpecError as error:
            yield BadLine(number, line, error)


def _zone(assignment: re.Match[str]) -> Zone | None:
    """The zone of the entries that follow; none if it is left empty."""
    name = assignment[2].strip().strip("\"'")
    try:
        return zone(name, _ZONE_VARIABLE) if name else None
    except SpecError as error:
        raise error.within(_ZONE_VARIABLE, assignment.string.index(name, assignment.start(2))) from None


def _entry(number: int, line: str, where: Zone, *, system: bool) -> Entry:
    if len(line) > _MAX_LINE:
        raise SpecError(f"the line has more than {_MAX_LINE} characters", code="too_long", field="line")
    match = _ALIAS.fullmatch(line) or _FIELDS.fullmatch(line)
    expression, rest = (match[1], match[2]) if match else (line, "")
    column = line.index(expression.strip())
    if system and rest:
        rest = " ".join(rest.split(maxsplit=1)[1:])
    if match and not rest.strip():
        missing = "user and command are" if system else "command is"
        raise SpecError(
            f"the {missing} missing after the time",
            code="no_command",
            field="command",
            token=expression.strip(),
            position=column,
        )
    return Entry(
        line=number,
        text=line,
        expression=expression.strip(),
        column=column,
        zone=where,
        command=rest.strip(),
    )
