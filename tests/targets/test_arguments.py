"""Arguments of tasks: written as JSON and read back by their annotations, strictly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel

from detent import Context, Detent, SyncContext, every
from detent.domain.errors import DetentError, SpecError
from detent.targets.arguments import Arguments, TaskError
from detent.targets.task import RunsIn, make_task

if TYPE_CHECKING:
    from fractions import Fraction


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Order:
    id: int
    lines: list[str] = field(default_factory=list)
    colour: Colour = Colour.RED


class Point(NamedTuple):
    x: int
    y: int


class Customer(BaseModel):
    name: str
    since: date


async def plain(ctx: Context, team: str, limit: int = 10) -> None: ...


async def of(
    ratio: float = 1.0, nothing: None = None, items: list[int] | None = None,
    table: dict[str, list[int]] | None = None, pair: tuple[int, str] = (1, "a"), many: tuple[int, ...] = (),
    either: int | str = 0, kind: Literal["a", "b", 3] = "a", colour: Colour = Colour.RED, order: Order | None = None,
    when: datetime | None = None, day: date | None = None, gap: timedelta | None = None, uid: UUID | None = None,
    price: Decimal | None = None, where: Path | None = None, point: Point | None = None, names: set[str] | None = None,
    customer: Customer | None = None, row: Sequence[int] = (), extra: Mapping[str, Any] | None = None, what: object = None,
    raw: bytes = b"", until: datetime | str | None = None, *, loose=None, flag: bool = False,
) -> None:  # fmt: skip
    """One of each."""


async def others(first: int, **more: int) -> None: ...


EACH = Arguments(of, "of")

ROUND = [
    ("flag", True, True),
    ("ratio", 1, 1),
    ("nothing", None, None),
    ("items", [1, 2], [1, 2]),
    ("items", None, None),
    ("table", {"a": [1]}, {"a": [1]}),
    ("pair", (2, "b"), [2, "b"]),
    ("many", (1, 2, 3), [1, 2, 3]),
    ("either", "x", "x"),
    ("either", 7, 7),
    ("kind", 3, 3),
    ("colour", Colour.BLUE, "blue"),
    (
        "order",
        Order(1, ["a"], Colour.BLUE),
        {"id": 1, "lines": ["a"], "colour": "blue"},
    ),
    ("when", datetime(2026, 3, 1, 2, tzinfo=UTC), "2026-03-01T02:00:00Z"),
    ("day", date(2026, 3, 1), "2026-03-01"),
    ("gap", timedelta(seconds=90), "PT1M30S"),
    (
        "uid",
        UUID("550e8400-e29b-41d4-a716-446655440000"),
        "550e8400-e29b-41d4-a716-446655440000",
    ),
    ("price", Decimal("1.50"), "1.50"),
    ("where", Path("/srv/data"), "/srv/data"),
    ("point", Point(1, 2), [1, 2]),
    ("names", {"a"}, ["a"]),
    (
        "customer",
        Customer(name="Ada", since=date(1815, 12, 10)),
        {"name": "Ada", "since": "1815-12-10"},
    ),
    ("row", [1, 2], [1, 2]),
    ("extra", {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
    ("what", {"any": "thing"}, {"any": "thing"}),
    ("raw", b"ab", "ab"),
    ("until", "tomorrow", "tomorrow"),
    ("loose", [1, "a"], [1, "a"]),
]


# R-TARGET-5
@pytest.mark.parametrize(("name", "value", "written"), ROUND)
def test_what_is_given_is_written_as_json_and_read_as_what_it_was(name, value, written):
    payload = EACH.written({name: value})
    assert payload == {name: written}
    read = EACH.read(json.loads(json.dumps(payload)))[name]
    assert read == value
    assert type(read) is type(value) or (type(value), type(read)) == (int, float)


WRONG = [
    ("flag", 1, "payload/flag", "input should be a valid boolean, not 1"),
    ("ratio", "1.5", "payload/ratio", 'input should be a valid number, not "1.5"'),
    ("nothing", 0, "payload/nothing", "input should be null, not 0"),
    ("items", [1, "2"], "payload/items/1", 'input should be a valid integer, not "2"'),
    ("items", [True], "payload/items/0", "input should be a valid integer, not True"),
    ("table", {"a": [1, None]}, "payload/table/a/1", "input should be a valid integer, not None"),
    ("kind", "c", "payload/kind", "input should be 'a', 'b' or 3, not \"c\""),
    ("colour", "green", "payload/colour", "input should be 'red' or 'blue', not \"green\""),
    ("order", {"lines": []}, "payload/order/id", "field required"),
    ("order", {"id": 1, "linse": []}, "payload/order/linse", "unexpected keyword argument"),
    ("order", {"id": "1", "colour": "x"}, "payload/order/id", "(and 1 more)"),
    ("when", "soon", "payload/when", "input should be a valid datetime"),
    ("day", "2026-02-30", "payload/day", "input should be a valid date"),
    ("gap", "90s", "payload/gap", "input should be a valid duration"),
    ("uid", "x", "payload/uid", "input should be a valid UUID"),
    ("price", "cheap", "payload/price", "input should be a valid decimal"),
    ("point", [1], "payload/point/1", "field required"),
    ("customer", {"name": "Ada"}, "payload/customer/since", "field required"),
    ("items", float("nan"), "payload/items", "can't be written as JSON"),
    ("loose", object(), "payload/loose", "can't be written as JSON"),
    ("extra", {"a": object()}, "payload/extra", "can't be written as JSON"),
    ("items", "\ud800" * 3, "payload/items", "invalid JSON: lone leading surrogate"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "place", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_place(name, value, place, message):
    with pytest.raises(SpecError) as refused:
        EACH.written({name: value})
    assert refused.value.field == place
    assert message.lower() in refused.value.message.lower()


def test_names_are_those_of_the_signature():
    for given in ({"teem": "a"}, {}, {"team": "a", "ctx": 1}):
        with pytest.raises(TaskError, match="plain can't be called with these arguments"):
            Arguments(plain, "plain", skipped=1).written(given)
    more = Arguments(others, "others")
    assert more.written({"first": 1, "second": 2}) == {"first": 1, "second": 2}
    with pytest.raises(SpecError, match="valid integer"):
        more.written({"first": 1, "second": "2"})


def positional(a, /) -> None: ...
def optional(a=1, /, b=2) -> None: ...
def typed_for_checkers(share: Fraction) -> None: ...
def callback(what: Callable[[], int]) -> None: ...
def handle(where: type[TaskError]) -> None: ...
def foreign(thing: TaskError) -> None: ...
def generator() -> Any:
    yield 1


async def async_generator() -> Any:
    yield 1


def takes_context(ctx: Context) -> None: ...
async def takes_sync_context(ctx: SyncContext) -> None: ...
async def coroutine() -> None: ...


# R-TARGET-5
@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (positional, {}, "positional has an argument that can't be given by name, a: take away the /"),
        (typed_for_checkers, {}, "import it outside TYPE_CHECKING"),
        (foreign, {}, "its argument thing has a type that no JSON can be read as"),
        (generator, {}, "is no function whose call is one run"),
        (async_generator, {}, "is no function whose call is one run"),
        (Order, {}, "is no function whose call is one run"),
        (takes_context, {}, "is no coroutine function: annotate its ctx with SyncContext"),
        (takes_sync_context, {}, "is a coroutine function: annotate its ctx with Context"),
        (coroutine, {"executor": "thread"}, "runs in the loop: leave executor away"),
        (coroutine, {"executor": "fibre"}, 'executor is thread or process, not "fibre"'),
        (coroutine, {"memory": "1G"}, 'memory is a limit of executor="process"'),
        (coroutine, {"executor": "process", "memory": "1 GB"}, '"1 GB" is no size'),
    ],
)
def test_a_function_that_cannot_be_a_task_is_refused(function, options, message):
    with pytest.raises(DetentError, match=r".") as refused:
        make_task(function, "f", **options)
    assert message.replace("positional has", "f has") in str(refused.value)


def test_where_a_function_runs_follows_from_what_it_is():
    assert make_task(coroutine, "f").runs_in is RunsIn.LOOP
    assert make_task(optional, "f").runs_in is RunsIn.THREAD
    limited = make_task(optional, "f", executor="process", memory="512M")
    assert (limited.runs_in, limited.memory) == (RunsIn.PROCESS, 512 << 20)
    assert make_task(optional, "f").arguments.names == {"b"}


def test_registration_tells_of_a_wrong_argument_in_the_words_of_the_schedule():
    app = Detent("shop")
    app.task(plain)
    with pytest.raises(DetentError) as refused:
        app.schedule("x", every("90s"), plain, team=5)
    assert str(refused.value) == 'schedule "x", payload/team: input should be a valid string, not 5'
    app.task(name="of")(of)
    app.schedule("y", every("90s"), of, order=Order(7), day=date(2026, 1, 2))
    assert app.schedules["y"]["payload"] == {
        "order": {"id": 7, "lines": [], "colour": "red"},
        "day": "2026-01-02",
    }


def test_values_that_a_call_could_change_are_made_anew_for_each():
    task = make_task(of, "of")
    shared = task.values({"when": "2026-03-01T02:00:00Z", "either": "x"})
    assert shared()["when"] is shared()["when"]
    own = task.values({"order": {"id": 1}, "loose": [1]})
    assert own() == own()
    assert own()["order"] is not own()["order"]
    assert own()["loose"] is not own()["loose"]
