"""`detent next`: when does this fire?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final

import typer

from detent import clock
from detent.cli.jsonl import answer_stream
from detent.cli.problem import refuse
from detent.cli.reader import reader_zone
from detent.domain.describe import describe_rule
from detent.domain.errors import SpecError
from detent.domain.instant import format_instant, instant_of, parse_instant, seconds_of
from detent.domain.lint import Finding, lint
from detent.domain.spec import parse_expression, refuse_silent
from detent.domain.trigger import Rule, Trigger, Triggers
from detent.domain.wallclock import Fold, Gap, Origin, WallClock
from detent.domain.zone import Zone, zone

_MAX_COUNT: Final = 10_000
_COUNT: Final = 5
_UTC: Final = "UTC"
_NOTHING_SAID: Final = (None, _UTC, None, _COUNT, Gap.AT_TRANSITION, Fold.FIRST, "", None)
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Preview:
    expression: str
    rule: Rule
    where: Zone
    reader: Zone
    slots: list[datetime]
    findings: list[Finding]


def next_command(
    expression: Annotated[
        str | None,
        typer.Argument(
            metavar="EXPR", help="A cron expression, an alias, '@every 90s' or 'FREQ=…'.", show_default=False
        ),
    ] = None,
    tz: Annotated[str, typer.Option("--tz", help="The schedule's zone.", metavar="ZONE")] = _UTC,
    after: Annotated[
        str | None,
        typer.Option(help="Slots after this instant, ISO 8601 with an offset. [default: now]", metavar="ISO"),
    ] = None,
    count: Annotated[int, typer.Option(min=1, max=_MAX_COUNT, help="How many slots.")] = _COUNT,
    gap: Annotated[
        Gap, typer.Option(help="What to do with times that a clock change skips.")
    ] = Gap.AT_TRANSITION,
    fold: Annotated[Fold, typer.Option(help="Which pass of times that a clock change repeats.")] = Fold.FIRST,
    identity: Annotated[str, typer.Option(help="The schedule's identity, from which H picks.")] = "",
    reader_tz: Annotated[
        str | None, typer.Option("--reader-tz", help="Your own zone. [default: the system's]", metavar="ZONE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Answer one JSON line for each on standard input.")
    ] = False,
) -> None:
    """Print the next slots of an expression in its zone, in UTC and in yours."""
    if jsonl:
        if (expression, tz, after, count, gap, fold, identity, reader_tz) != _NOTHING_SAID:
            raise typer.BadParameter("--jsonl takes everything from the lines of standard input")
        answer_stream()
        return
    if expression is None:
        raise typer.BadParameter("an expression is missing, such as '30 2 * * *'")
    text: Mapping[str, str | None] = {"timezone": tz, "after": after, "reader-tz": reader_tz}
    try:
        where = zone(tz)
        start = clock.now() if after is None else parse_instant(after, "after")
        rule = parse_expression(expression, where=where, gap=gap, fold=fold, as_of=start, identity=identity)
        preview = _Preview(
            expression=expression,
            rule=rule,
            where=where,
            reader=reader_zone(reader_tz),
            slots=_slots(rule, expression, start, count),
            findings=list(lint(rule, start)),
        )
    except SpecError as error:
        refuse(error, text.get(error.field, expression), as_json=as_json)
    print(_as_json(preview) if as_json else "\n".join(_as_text(preview)))


def _slots(rule: Rule, expression: str, start: datetime, count: int) -> list[datetime]:
    trigger = Trigger(rule=rule)
    refuse_silent(trigger, "expr", expression, start)
    return list(Triggers((trigger,)).upcoming(start, count))


def _as_text(preview: _Preview) -> Iterator[str]:
    yield describe_rule(preview.rule)
    yield ""
    zones = [preview.where, zone("UTC"), preview.reader]
    zones = [z for n, z in enumerate(zones) if z not in zones[:n]]
    fine = any(slot.second or slot.microsecond for slot in preview.slots)
    rows = [[_local(slot, z, fine) for z in zones] for slot in preview.slots]
    widths = [max(len(z.name), len(rows[0][n])) for n, z in enumerate(zones)]
    for cells, note in [
        ([z.name for z in zones], ""),
        *((row, _note(preview.rule, slot)) for row, slot in zip(rows, preview.slots, strict=True)),
    ]:
        padded = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        yield f"  {padded}  {note}".rstrip()
    if preview.findings:
        yield ""
    for finding in preview.findings:
        yield f"  note: {finding.message}"


def _as_json(preview: _Preview) -> str:
    return json.dumps(
        {
            "expression": preview.expression,
            "description": describe_rule(preview.rule),
            "timezone": preview.where.name,
            "reader_timezone": preview.reader.name,
            "next": [_slot_json(preview, slot) for slot in preview.slots],
            "warnings": [
                {
                    "code": f.code,
                    "message": f.message,
                    **({"at": format_instant(f.at)} if f.at is not None else {}),
                }
                for f in preview.findings
            ],
        }
    )


def _slot_json(preview: _Preview, slot: datetime) -> dict[str, str]:
    found = {
        "utc": format_instant(slot),
        "local": _iso(slot, preview.where),
        "reader": _iso(slot, preview.reader),
    }
    if isinstance(preview.rule, WallClock):
        nominal = preview.rule.nominal(slot)
        found |= {"origin": nominal.origin.value, "nominal": format_instant(instant_of(nominal.wall))[:-1]}
    return found


def _note(rule: Rule, slot: datetime) -> str:
    """Why a slot lies where it lies, if a clock change has a part in it."""
    if not isinstance(rule, WallClock):
        return ""
    nominal = rule.nominal(slot)
    wall = _wall(nominal.wall, nominal.wall % 60 > 0)[-8 if nominal.wall % 60 else -5 :]
    match nominal.origin:
        case Origin.PLAIN:
            return ""
        case Origin.GAP:
            return f"<- moved: {wall} does not exist on this day"
        case Origin.FIRST_PASS:
            return f"<- the first of two {wall}"
        case Origin.LAST_PASS:
            return f"<- the second of two {wall}"


def _local(slot: datetime, where: Zone, fine: bool) -> str:
    offset = where.offset_at(seconds_of(slot))
    wall = slot + timedelta(seconds=offset)
    fraction = f".{wall.microsecond // 1000:03}" if wall.microsecond else ""
    weekday = _WEEKDAYS[wall.weekday()]
    return f"{weekday} {_wall(seconds_of(wall), fine)}{fraction} {_offset(offset)}"


def _wall(wall: int, fine: bool) -> str:
    return f"{instant_of(wall):%Y-%m-%d %H:%M:%S}"[: None if fine else -3]


def _iso(slot: datetime, where: Zone) -> str:
    offset = where.offset_at(seconds_of(slot))
    wall = format_instant(slot + timedelta(seconds=offset))[:-1]
    return wall + _offset(offset)


def _offset(seconds: int) -> str:
    minutes, rest = divmod(abs(seconds), 60)
    tail = f":{rest:02}" if rest else ""
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}{tail}"
