"""A schedule: the one spec, as code, files, REST and the CLI write it, read into values.

Two texts are made of it. The *cadence* is all that a planner reads, the *work* all that a worker reads; both are
canonical, so schedules that say the same have equal texts, and whoever reads thousands of them decodes each text once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final

from detent.domain.duration import format_duration, parse_duration
from detent.domain.errors import SpecError
from detent.domain.given import choice, mapping
from detent.domain.http.reach import PUBLIC, Reach
from detent.domain.http.spec import HTTP, read_http
from detent.domain.need import TASK, need_of
from detent.domain.plan import Cadence, Misfire, MisfirePolicy
from detent.domain.retry import Retry
from detent.domain.spacing import refuse_too_often, shortest_gap
from detent.domain.spec import anchored, parse_triggers, read_triggers
from detent.domain.spread import Spread

_KEYS: Final = (
    "name", "trigger", "triggers", "target", "payload", "max_firings", "jitter", "window", "overlap",
    "max_concurrent", "misfire", "start_deadline", "retry", "timeout", "expected_duration", "priority", "pool",
    "tags", "description", "paused",
)  # fmt: skip
_MISFIRE_KEYS: Final = ("policy", "cap", "grace")
_RETRY_KEYS: Final = ("max_attempts", "delays", "base", "factor", "cap", "jitter")
_NAME: Final = 200
_MAX_PAYLOAD: Final = 256 * 1024
_MAX_TAGS: Final = 32
_MAX_CONCURRENT: Final = 10_000
_MAX_ATTEMPTS: Final = 100
_MAX_FIRINGS: Final = 2_000_000_000
_MAX_CATCH_UPS: Final = 1_000
_LONGEST_GRACE: Final = timedelta(days=89)
"""Retention less a day: a catch-up must find its partition."""
_POOL: Final = re.compile(r"[a-z0-9_-]{1,63}")
_REMEMBERED: Final = 20_000


class Overlap(StrEnum):
    """What happens to a firing whose schedule is still running."""

    SKIP = "skip"
    QUEUE = "queue"
    COLLAPSE = "collapse"
    CANCEL_PREVIOUS = "cancel_previous"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a worker needs to know of a schedule."""

    target: Mapping[str, object]
    payload: object
    retry: Retry
    timeout: timedelta | None
    expected_duration: timedelta | None
    overlap: Overlap
    schedule: str | None = None
    """Its name, for targets that tell it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A spec that has passed every check. `spec` is its canonical form, which reads back as the same."""

    name: str
    cadence: Cadence
    work: Work
    seats: int
    """How many firings may run at once; 0 stands for any number."""
    needs: int
    """What a worker must be able to do: see need.py."""
    priority: int
    pool: str
    start_deadline: timedelta | None
    paused: bool
    spec: Mapping[str, object]
    cadence_text: str
    work_text: str


def register(
    spec: object, *, as_of: datetime, identity: str, min_interval: timedelta, reach: Reach = PUBLIC
) -> Schedule:
    """A spec as a person gives it, at the moment of its registration."""
    given = mapping(spec, _KEYS, "schedule")
    specs = _triggers_of(given)
    max_firings = _integer(given, "max_firings", 0, 1, _MAX_FIRINGS) or None
    triggers = parse_triggers(specs, as_of=as_of, identity=identity, max_firings=max_firings)
    refuse_too_often(triggers, min_interval, as_of)
    pairs = zip(specs, triggers.each, strict=True)  # type: ignore[call-overload]
    canonical = {**given, "triggers": [anchored(spec, trigger, as_of) for spec, trigger in pairs]}
    canonical.pop("trigger", None)
    schedule = _read(canonical, identity)
    if HTTP in schedule.work.target:
        url = read_http(schedule.work.target, schedule.work.payload).url
        reach.refuse_url(url, f"target/{HTTP}/url")
    spread = schedule.cadence.spread
    if spread.jitter or spread.window:
        spread.refuse_beyond(shortest_gap(triggers, as_of))
    return schedule


@lru_cache(_REMEMBERED)
def read_cadence(text: str) -> Cadence:
    """Of a cadence's text. An `H` picks by the identity that the text carries then."""
    stored = json.loads(text)
    max_firings = _integer(stored, "max_firings", 0, 1, _MAX_FIRINGS) or None
    triggers = read_triggers(
        stored["triggers"], identity=str(stored.get("identity", "")), max_firings=max_firings
    )
    return Cadence(triggers=triggers, spread=_spread(stored), misfire=_misfire(stored))


@lru_cache(_REMEMBERED)
def read_work(text: str) -> Work:
    return _work(json.loads(text))


def _read(spec: Mapping[str, object], identity: str) -> Schedule:
    cadence = {
        key: spec[key] for key in ("triggers", "max_firings", "jitter", "window", "misfire") if key in spec
    }
    if any("H" in str(trigger.get("cron", "")) for trigger in spec["triggers"]):  # type: ignore[attr-defined]
        cadence["identity"] = identity
    work = {
        key: spec[key]
        for key in ("target", "payload", "retry", "timeout", "expected_duration", "overlap")
        if key in spec
    }
    name, target = _name(spec.get("name")), spec.get("target")
    if isinstance(target, Mapping) and HTTP in target:
        work["schedule"] = name
    overlap = choice(spec, "overlap", Overlap)
    cadence_text, work_text = _canonical(cadence, "triggers"), _canonical(work, "payload")
    return Schedule(
        name=name,
        cadence=read_cadence(cadence_text),
        work=read_work(work_text),
        seats=_seats(spec, overlap),
        priority=_integer(spec, "priority", 4, 0, 9),
        pool=_pool(spec.get("pool", "default")),
        start_deadline=_duration(spec, "start_deadline"),
        needs=need_of(read_work(work_text).target),
        paused=_flag(spec, "paused"),
        spec={**spec, "tags": _tags(spec)} if "tags" in spec else spec,
        cadence_text=cadence_text,
        work_text=work_text,
    )


def _triggers_of(given: Mapping[str, object]) -> object:
    if ("trigger" in given) == ("triggers" in given):
        raise _refused(
            "triggers", "not_one_kind", "a schedule has either triggers, a list, or trigger, a single one"
        )
    return given["triggers"] if "triggers" in given else [given["trigger"]]


def _work(stored: Mapping[str, object]) -> Work:
    target = stored.get("target")
    if not isinstance(target, Mapping) or len(target) != 1:
        raise _refused(
            "target", "bad_target", "target is an object with one kind, such as {task: nightly_report}"
        )
    if TASK in target:
        _refuse_bad_task(target[TASK])
    payload = stored.get("payload", {})
    if HTTP in target:
        read_http(target, payload)
    return Work(
        target=target,
        payload=payload,
        retry=_retry(stored),
        timeout=_duration(stored, "timeout"),
        expected_duration=_duration(stored, "expected_duration"),
        overlap=choice(stored, "overlap", Overlap),
        schedule=str(stored["schedule"]) if "schedule" in stored else None,
    )


def _spread(spec: Mapping[str, object]) -> Spread:
    return Spread(
        jitter=_duration(spec, "jitter") or timedelta(), window=_duration(spec, "window") or timedelta()
    )


def _misfire(spec: Mapping[str, object]) -> Misfire:
    if "misfire" not in spec:
        return Misfire()
    given = mapping(spec["misfire"], _MISFIRE_KEYS, "misfire")
    grace = _duration(given, "grace", "misfire")
    if grace is not None and grace > _LONGEST_GRACE:
        raise _refused("misfire/grace", "out_of_range", f"grace is at most {format_duration(_LONGEST_GRACE)}")
    return Misfire(
        policy=choice(given, "policy", MisfirePolicy),
        cap=_integer(given, "cap", Misfire().cap, 1, _MAX_CATCH_UPS, "misfire"),
        grace=grace if grace is not None else Misfire().grace,
    )


def _retry(spec: Mapping[str, object]) -> Retry:
    if "retry" not in spec:
        return Retry()
    given = mapping(spec["retry"], _RETRY_KEYS, "retry")
    plain = Retry()
    delays = given.get("delays", [])
    if not isinstance(delays, list) or len(delays) > _MAX_ATTEMPTS:
        raise _refused("retry/delays", "not_a_list", "delays is a list of durations, such as [10s, 1m, 10m]")
    if delays and ("base" in given or "factor" in given):
        raise _refused("retry/delays", "conflict", "give either delays, or base and factor")
    return Retry(
        max_attempts=_integer(
            given,
            "max_attempts",
            len(delays) + 1 if delays else plain.max_attempts,
            1,
            _MAX_ATTEMPTS,
            "retry",
        ),
        delays=tuple(parse_duration(delay, "retry/delays") for delay in delays),
        base=_duration(given, "base", "retry") or plain.base,
        factor=_number(given, "factor", plain.factor, 1, 100),
        cap=_duration(given, "cap", "retry") or plain.cap,
        jitter=_number(given, "jitter", plain.jitter, 0, 1),
    )


def _seats(spec: Mapping[str, object], overlap: Overlap) -> int:
    if overlap is Overlap.ALLOW:
        return _integer(spec, "max_concurrent", 0, 1, _MAX_CONCURRENT)
    if "max_concurrent" in spec:
        raise _refused("max_concurrent", "conflict", "max_concurrent goes with overlap: allow")
    return 1


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _NAME or not value.isprintable():
        raise _refused("name", "bad_name", f"a schedule has a name of 1 to {_NAME} printable characters")
    return value


def _refuse_bad_task(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > _NAME or not name.isprintable():
        raise _refused("target/task", "bad_name", f"a task has a name of 1 to {_NAME} printable characters")


def _pool(value: object) -> str:
    if isinstance(value, str) and _POOL.fullmatch(value):
        return value
    raise _refused("pool", "bad_name", "a pool's name has up to 63 of a-z, 0-9, _ and -")


def _tags(spec: Mapping[str, object]) -> list[str]:
    tags = spec["tags"]
    if (
        not isinstance(tags, list)
        or len(tags) > _MAX_TAGS
        or not all(isinstance(t, str) and 0 < len(t) <= 63 for t in tags)
    ):
        raise _refused(
            "tags", "bad_value", f"tags is a list of at most {_MAX_TAGS} texts of up to 63 characters"
        )
    return sorted(set(tags))


def _duration(given: Mapping[str, object], key: str, within: str = "") -> timedelta | None:
    value = given.get(key)
    return None if value is None else parse_duration(value, f"{within}/{key}" if within else key)


def _integer(
    given: Mapping[str, object], key: str, default: int, low: int, high: int, within: str = ""
) -> int:
    if key not in given:
        return default
    value = given[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _refused(
            f"{within}/{key}" if within else key,
            "out_of_range",
            f"{key} is a whole number from {low} to {high}",
        )
    return value


def _number(given: Mapping[str, object], key: str, default: float, low: float, high: float) -> float:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _refused(f"retry/{key}", "out_of_range", f"{key} is a number from {low} to {high}")
    return float(value)


def _flag(given: Mapping[str, object], key: str) -> bool:
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise _refused(key, "bad_value", f"{key} is true or false")
    return value


def _canonical(value: Mapping[str, object], field: str) -> str:
    """`field` is the part to blame for the size."""
    try:
        text = _json(value)
    except (TypeError, ValueError, RecursionError):
        for key, part in value.items():
            _refuse_no_json(key, part)
        raise
    if len(text) > _MAX_PAYLOAD:
        raise _refused(
            field,
            "too_long",
            f"{field} is larger than {_MAX_PAYLOAD >> 10} KiB: store it, and pass a reference",
        )
    if "\\u0000" in text:
        raise _refused(field, "bad_json", f"{field} holds a NUL character, which PostgreSQL can't store")
    return text


def _refuse_no_json(field: str, value: object) -> None:
    try:
        _json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(field, "bad_json", f"{field} can't be written as JSON: {error}") from None


def _json(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    text.encode()  # PostgreSQL stores no lone surrogates
    return text


def _refused(field: str, code: str, message: str) -> SpecError:
    return SpecError(message, code=code, field=field)
