"""The one spec of triggers, as files, REST and the CLI write it, read into values.

    {"cron" | "every" | "at" | "rrule": …, "timezone": …, "gap": …, "fold": …,
     "start_at": …, "end_at": …, "exclude": {"timezone": …, "dates": […], "ranges": […], "weekly": […]}}

`at` is an instant or a delay (`in 10m`). `start_at` is the first instant at which a slot may lie; it is also the
anchor of `every` and the DTSTART of `rrule`, which begin at `as_of`, the moment of registration, without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from detent.domain.at import At
from detent.domain.cron import clean_expression, parse_cron
from detent.domain.duration import parse_duration
from detent.domain.errors import SpecError, quoted
from detent.domain.every import Every
from detent.domain.exclusions import parse_exclusions
from detent.domain.given import choice, mapping, token_of
from detent.domain.instant import floor_millisecond, format_instant, on_whole_millisecond, parse_instant
from detent.domain.limits import AHEAD_AT_MOST, EARLIEST, LATE_AT_MOST, MAX_TRIGGERS
from detent.domain.rrule_text import parse_rrule
from detent.domain.trigger import Rule, Trigger, Triggers
from detent.domain.wallclock import Fold, Gap, WallClock
from detent.domain.zone import Zone, given_zone, zone

KINDS: Final = ("cron", "every", "at", "rrule")
_TRIGGER_KEYS: Final = (*KINDS, "timezone", "tz", "gap", "fold", "start_at", "end_at", "exclude")
_EVERY_PREFIX: Final = "@every"


def parse_triggers(
    specs: object, *, as_of: datetime, identity: str = "", max_firings: int | None = None
) -> Triggers:
    """A list of trigger specs, each of which fires at least once after `as_of`: what a person registers."""
    each = []
    for number, spec in enumerate(_specs(specs)):
        with _inside(number):
            each.append(parse_trigger(spec, as_of=as_of, identity=identity))
    return Triggers(tuple(each), max_firings)


def read_triggers(specs: object, *, identity: str = "", max_firings: int | None = None) -> Triggers:
    """Specs in the form of `anchored`, which need no moment of registration: what is stored."""
    each = []
    for number, spec in enumerate(_specs(specs)):
        with _inside(number):
            each.append(_trigger(spec, as_of=EARLIEST, identity=identity)[0])
    return Triggers(tuple(each), max_firings)


def anchored(spec: Mapping[str, object], trigger: Trigger, as_of: datetime) -> dict[str, object]:
    """The spec with everything in it that was taken from the moment of its registration."""
    written = {("timezone" if key == "tz" else key): value for key, value in spec.items()}
    if isinstance(trigger.rule, At):
        written["at"] = format_instant(trigger.rule.instant)
    counts_from_its_start = isinstance(trigger.rule, Every) or "rrule" in written
    if counts_from_its_start and trigger.start_at is None:
        written["start_at"] = format_instant(floor_millisecond(as_of))
    return written


def _specs(specs: object) -> Sequence[object]:
    if not isinstance(specs, Sequence) or isinstance(specs, str):
        raise _refused("not_a_list", "triggers", "triggers is a list, such as [{cron: 0 2 * * *}]")
    if not 1 <= len(specs) <= MAX_TRIGGERS:
        raise _refused(
            "out_of_range",
            "triggers",
            f"a schedule has 1 to {MAX_TRIGGERS} triggers, this one has {len(specs)}",
        )
    return specs


@contextmanager
def _inside(number: int) -> Iterator[None]:
    try:
        yield
    except SpecError as error:
        raise error.within(f"triggers/{number}/{error.field}") from None


def parse_trigger(spec: object, *, as_of: datetime, identity: str = "") -> Trigger:
    """One trigger spec; refused if it has no slot within 50 years after `as_of`."""
    trigger, kind, value = _trigger(spec, as_of=as_of, identity=identity)
    refuse_silent(trigger, kind, value, as_of)
    return trigger


def _trigger(spec: object, *, as_of: datetime, identity: str) -> tuple[Trigger, str, object]:
    given = mapping(spec, _TRIGGER_KEYS, "trigger")
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        raise _refused(
            "not_one_kind",
            "trigger",
            f"a trigger has exactly one of {', '.join(KINDS)}; this one has {' and '.join(kinds) or 'none'}",
        )
    kind, where = kinds[0], given_zone(given, zone("UTC"))
    start_at = _instant(given, "start_at")
    end_at = _instant(given, "end_at")
    if start_at is not None and end_at is not None and end_at <= start_at:
        raise _refused("empty_range", "end_at", "end_at must lie after start_at")
    begin = floor_millisecond(as_of) if start_at is None else start_at
    trigger = Trigger(
        rule=_rule(kind, given, where, begin, as_of, identity),
        start_at=start_at,
        end_at=end_at,
        exclude=parse_exclusions(given["exclude"], where) if "exclude" in given else None,
    )
    return trigger, kind, given[kind]


def parse_expression(
    text: object, *, where: Zone, gap: Gap, fold: Fold, as_of: datetime, identity: str = ""
) -> Rule:
    """What a person types: cron fields, an alias, `@every 90s`, or a recurrence rule."""
    expression = clean_expression(text, "expr")
    prefix, blank, _ = expression.replace("\t", " ").partition(" ")
    try:
        if prefix.lower() == _EVERY_PREFIX and blank:
            return Every(_behind(len(prefix), str(text), "expr"), floor_millisecond(as_of))
        if expression.upper().startswith(("FREQ=", "RRULE:")):
            return WallClock(parse_rrule(text, as_of, where), where, gap, fold)
        return WallClock(parse_cron(text, identity), where, gap, fold)
    except SpecError as error:
        raise error.within("expr") from None


def _behind(prefix: int, text: str, field: str) -> timedelta:
    """The duration behind a word of that length."""
    begin = len(text) - len(text.lstrip()) + prefix
    begin += len(text[begin:]) - len(text[begin:].lstrip())
    try:
        return parse_duration(text[begin:].rstrip(), field)
    except SpecError as error:
        raise error.within(field, begin) from None


def refuse_silent(trigger: Trigger, kind: str, value: object, as_of: datetime) -> None:
    """What never fires is refused at registration."""
    rule = trigger.rule
    since = as_of - LATE_AT_MOST if isinstance(rule, At) else as_of
    too_far = isinstance(rule, At) and rule.instant - as_of > AHEAD_AT_MOST
    if trigger.next(since) is not None and not too_far:
        return
    if isinstance(rule, At) and (too_far or rule.next(since) is None):
        message = f"{quoted(str(value))} lies in the past, or more than ten years ahead"
    elif rule.next(since) is not None:
        message = "never fires: its bounds and exclusions leave no slot within 50 years"
    else:
        message = f"never fires: {quoted(str(value))} has no slot within the next 50 years"
    raise SpecError(message, code="never_fires", field=kind, token=token_of(str(value)))


def _rule(
    kind: str, given: Mapping[str, object], where: Zone, begin: datetime, as_of: datetime, identity: str
) -> Rule:
    gap, fold = choice(given, "gap", Gap), choice(given, "fold", Fold)
    if kind in ("every", "at"):
        for policy in ("gap", "fold"):
            if policy in given:
                message = f"{policy} is about wall clocks, which {kind} doesn't follow: remove it"
                raise _refused("conflict", policy, message)
    match kind:
        case "cron":
            text = given["cron"]
            if isinstance(text, str) and text.strip().lower().startswith(_EVERY_PREFIX):
                try:
                    return parse_expression(text, where=where, gap=gap, fold=fold, as_of=begin)
                except SpecError as error:
                    raise error.within("cron") from None
            return WallClock(parse_cron(text, identity), where, gap, fold)
        case "rrule":
            return WallClock(parse_rrule(given["rrule"], begin, where), where, gap, fold)
        case "every":
            return Every(parse_duration(given["every"], "every"), begin)
        case _:
            return At(on_whole_millisecond(_at(given["at"], as_of)))


def _at(value: object, as_of: datetime) -> datetime:
    if isinstance(value, str) and value.startswith("in "):
        return as_of + _behind(len("in"), value, "at")
    return parse_instant(value, "at")


def _instant(given: Mapping[str, object], key: str) -> datetime | None:
    return on_whole_millisecond(parse_instant(given[key], key)) if key in given else None


def _refused(code: str, field: str, message: str) -> SpecError:
    return SpecError(message, code=code, field=field)
