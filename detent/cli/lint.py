"""`detent lint`: what is wrong, or surprising, in crontabs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from detent import clock
from detent.cli.problem import WRONG_INPUT, caret, refuse
from detent.cli.streams import bytes_in
from detent.domain.crontab import BadLine, Entry, read_crontab
from detent.domain.errors import SpecError
from detent.domain.instant import parse_instant
from detent.domain.lint import ABOUT_ZONES, Finding, lint
from detent.domain.spec import parse_expression, refuse_silent
from detent.domain.trigger import Trigger
from detent.domain.wallclock import Fold, Gap
from detent.domain.zone import Zone, zone

_MAX_FILE: Final = 10 << 20
_SYSTEM_PLACES: Final = ("/etc/crontab", "/etc/cron.d/", "/etc/anacrontab")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remark:
    file: str
    line: int
    severity: Literal["error", "warning"]
    code: str
    message: str
    under: str = ""
    """The line with a caret, for errors."""


def lint_command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Crontabs; - is standard input.")],
    tz: Annotated[
        str, typer.Option("--tz", help="The zone of entries without CRON_TZ.", metavar="ZONE")
    ] = "UTC",
    system: Annotated[
        bool,
        typer.Option("--system", help="Lines have a user name, as in /etc/crontab (known by path there)."),
    ] = False,
    after: Annotated[
        str | None, typer.Option(help="Clock changes after this instant. [default: now]", metavar="ISO")
    ] = None,
    strict: Annotated[bool, typer.Option(help="Warnings make the exit code 1 too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a remark.")] = False,
) -> None:
    """Check crontabs: errors with a caret, surprises, and what clock changes will do in the next two years.

    Exit code 0: no errors; 1: errors found; 2: a file or an option can't be used.
    """
    try:
        default = zone(tz)
        as_of = clock.now() if after is None else parse_instant(after, "after")
    except SpecError as error:
        refuse(error, tz if error.field == "timezone" else after, as_json=as_json)
    remarks = [
        remark
        for path in paths
        for remark in _check(str(path), _read(path), default, as_of, system=system or _is_system(path))
    ]
    for remark in remarks:
        print(_as_json(remark) if as_json else _as_text(remark))
    errors = sum(remark.severity == "error" for remark in remarks)
    if not as_json:
        warnings = len(remarks) - errors
        print(
            f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}", file=sys.stderr
        )
    if errors or (strict and remarks):
        raise typer.Exit(1)


def _check(file: str, text: str, default: Zone, as_of: datetime, *, system: bool) -> Iterator[_Remark]:
    said: set[Finding] = set()
    for entry in read_crontab(text, default, system=system):
        if isinstance(entry, BadLine):
            yield _error(file, entry.line, entry.text, entry.error)
            continue
        try:
            findings = [finding for finding in _findings(entry, as_of) if finding not in said]
            said.update(finding for finding in findings if finding.code in ABOUT_ZONES)
            yield from (_warning(file, entry.line, finding) for finding in findings)
        except SpecError as error:
            yield _error(file, entry.line, entry.text, error.within(error.field, entry.column))


def _findings(entry: Entry, as_of: datetime) -> Iterator[Finding]:
    rule = parse_expression(
        entry.expression, where=entry.zone, gap=Gap.AT_TRANSITION, fold=Fold.FIRST, as_of=as_of
    )
    refuse_silent(Trigger(rule=rule), "cron", entry.expression, as_of)
    yield from lint(rule, as_of)


def _warning(file: str, line: int, finding: Finding) -> _Remark:
    return _Remark(file=file, line=line, severity="warning", code=finding.code, message=finding.message)


def _error(file: str, line: int, text: str, error: SpecError) -> _Remark:
    return _Remark(
        file=file,
        line=line,
        severity="error",
        code=error.code,
        message=error.message,
        under=caret(text, error),
    )


def _as_text(remark: _Remark) -> str:
    head = f"{remark.file}:{remark.line}: {remark.severity}: {remark.message} [{remark.code}]"
    return f"{head}\n{remark.under}" if remark.under else head


def _as_json(remark: _Remark) -> str:
    return json.dumps(
        {
            "file": remark.file,
            "line": remark.line,
            "severity": remark.severity,
            "code": remark.code,
            "message": remark.message,
        }
    )


def _read(path: Path) -> str:
    try:
        data = bytes_in().read(_MAX_FILE + 1) if str(path) == "-" else _bounded(path)
    except OSError as error:
        print(f"detent: {path} can't be read: {error.strerror or error}", file=sys.stderr)
        sys.exit(WRONG_INPUT)
    if len(data) > _MAX_FILE:
        print(f"detent: {path} is larger than {_MAX_FILE >> 20} MiB", file=sys.stderr)
        sys.exit(WRONG_INPUT)
    return data.decode("utf-8", "replace")


def _bounded(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_FILE + 1)


def _is_system(path: Path) -> bool:
    return str(path.absolute()).startswith(_SYSTEM_PLACES)
