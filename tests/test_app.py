"""What a person writes: tasks and schedules of an app, and what it is told when something is wrong."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from detent import AppError, Context, Detent, at, cron, every, exponential, rrule
from detent.domain.instant import format_instant

NAIVE = datetime(2040, 1, 1, tzinfo=UTC).replace(tzinfo=None)
LAZY = """
import sys, detent
assert "detent.app" not in sys.modules
from detent import *
Detent().task(name="x")
assert not {"asyncpg", "detent.store"} & set(sys.modules)
assert set(dir(detent)) == set(detent.__all__)
try:
    detent.nothing
except AttributeError as error:
    print(error)
"""


@pytest.fixture
def app():
    return Detent("shop")


async def report(context: Context, team: str, limit: int = 10) -> str:
    return f"{team}/{limit}"


async def plain() -> None:
    """Nothing."""


# R-TARGET-5
async def test_a_task_stays_directly_callable(app):
    registered = app.task(name="add")(_add)
    assert registered is _add
    assert await registered(1, 2) == 3
    assert app.tasks["add"].function is _add


async def _add(a: int, b: int) -> int:
    return a + b


def test_a_schedule_is_one_spec_with_the_policies_of_its_task(app):
    app.task(pool="reports", timeout="10m", retry=exponential(5))(report)
    app.schedule(
        "ops", cron("0 2 * * *", tz="America/New_York"), report, team="ops", priority=7, timeout="1m"
    )
    assert app.schedules["ops"] == {
        "name": "ops",
        "triggers": [{"cron": "0 2 * * *", "timezone": "America/New_York"}],
        "target": {"task": "report"},
        "pool": "reports",
        "timeout": "1m",
        "retry": {"max_attempts": 5, "base": "5s", "factor": 2.0, "cap": "1h", "jitter": 0.1},
        "priority": 7,
        "payload": {"team": "ops"},
    }


def test_triggers_of_each_kind_and_lists_of_them(app):
    app.task(plain)
    noon, days = datetime(2040, 1, 1, 12, tzinfo=UTC), {"dates": ["2040-12-25"]}
    app.schedule(
        "all",
        [
            cron("30 1 * * *", tz="Europe/Berlin", gap="skip", fold="both", exclude=days),
            rrule("FREQ=MONTHLY;BYDAY=-1FR", start_at=noon),
            every(timedelta(seconds=90), end_at="2050-01-01T00:00:00Z"),
            at(datetime(2030, 6, 1, 12, 30, tzinfo=UTC)),
            at("in 10m"),
        ],
        plain,
    )
    assert app.schedules["all"]["triggers"] == [
        {"cron": "30 1 * * *", "timezone": "Europe/Berlin", "gap": "skip", "fold": "both", "exclude": days},
        {"rrule": "FREQ=MONTHLY;BYDAY=-1FR", "start_at": "2040-01-01T12:00:00Z"},
        {"every": "1m30s", "end_at": "2050-01-01T00:00:00Z"},
        {"at": "2030-06-01T12:30:00Z"},
        {"at": "in 10m"},
    ]


def test_all_policies_are_those_of_the_spec(app):
    app.task(report)
    app.schedule(
        "all", every("1m"), report, payload={"team": "ops"}, overlap="allow", max_concurrent=3, misfire="fire_all",
        start_deadline=timedelta(seconds=30), expected_duration="5s", max_firings=9, jitter="2s", tags=("b", "a"),
        description="all of them", paused=True, retry={"delays": ["1s", "1m"]}, pool="fast",
    )  # fmt: skip
    spec = app.schedules["all"]
    assert spec["misfire"] == {"policy": "fire_all"}
    assert (spec["start_deadline"], spec["tags"], spec["retry"]) == (
        "30s",
        ["b", "a"],
        {"delays": ["1s", "1m"]},
    )


# R-TIME-9
@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (
            lambda app: app.schedule("x", cron("0 2 * *"), plain),
            'schedule "x", triggers/0/cron: 4 fields, but an expression has 5',
        ),
        (lambda app: app.schedule("x", cron("0 0 30 2 *"), plain), "no February has a day 30"),
        (lambda app: app.schedule("x", cron("0 0 * * *", tz="EST"), plain), 'schedule "x", triggers/0/timezone: '),
        (lambda app: app.schedule("x", "0 2 * * *", plain), 'when is cron("…"), every("…")'),
        (lambda app: app.schedule("x", every(90), plain), "a duration is a text such as 90s"),
        (lambda app: app.schedule("x", at(NAIVE), plain), "has no offset"),
        (lambda app: app.schedule("x", [], plain), "a schedule has 1 to 32 triggers"),
        (lambda app: app.schedule("x", every("90s"), print), "print is no task of shop: write @app.task above it"),
        (lambda app: app.schedule("x", every("90s"), report), "missing a required argument: 'team'"),
        (lambda app: app.schedule("x", every("90s"), report, tem="a", team="b"), "unexpected keyword argument 'tem'"),
        (lambda app: app.schedule("x", every("90s"), plain, payload={"a": 1}), "unexpected keyword argument 'a'"),
        (lambda app: app.schedule("x", every("90s"), report, payload={}, team="b"), "either by payload or by name"),
        (lambda app: app.schedule("x", every("90s"), report, team=object()), "can't be written as JSON"),
        (lambda app: app.schedule("", every("90s"), plain), "a name of 1 to 200 printable characters"),
        (lambda app: app.schedule("x", every("90s"), plain, priority=12), "priority is a whole number from 0 to 9"),
        (lambda app: app.schedule("x", every("90s"), plain, pool="A b"), "a pool's name has up to 63"),
        (lambda app: app.schedule("x", every("90s"), plain, timeout="soon"), '"soon" is no duration'),
        (lambda app: app.schedule("x", every("90s"), plain, overlap="never"), "overlap is one of skip, queue"),
        (lambda app: app.schedule("x", every("90s"), plain, max_concurrent=2), "goes with overlap: allow"),
        (lambda app: app.task(name="plain")(_add), 'shop has two tasks "plain": give one another name'),
        (lambda app: app.task(name="again")(plain), '"plain" is registered already'),
        (lambda app: app.task(len), "len has an argument that can't be given by name, obj: take away the /"),
        (lambda app: Detent(""), "an app has a name"),
        (lambda app: exponential(3, base="long"), '"long" is no duration'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_where_it_is_written(app, declare, message):
    app.task(plain)
    app.task(report)
    with pytest.raises(Exception, match=r".") as refused:
        declare(app)
    assert message in str(refused.value)
    assert not app.schedules


def test_a_name_is_used_once(app):
    app.task(plain)
    app.schedule("x", every("1m"), plain)
    with pytest.raises(AppError, match='shop has two schedules "x"'):
        app.schedule("x", every("2m"), plain)


def test_an_argument_that_is_named_like_a_policy_is_given_by_payload(app):
    app.task(_prioritised)
    with pytest.raises(
        AppError, match="priority is a policy of the schedule and an argument of _prioritised"
    ):
        app.schedule("x", every("1m"), _prioritised, priority=3)
    app.schedule("x", every("1m"), _prioritised, payload={"priority": 1}, priority=3)
    assert (app.schedules["x"]["priority"], app.schedules["x"]["payload"]) == (3, {"priority": 1})


def test_an_argument_may_be_called_name(app):
    app.task(_greet)
    app.schedule("x", every("1m"), _greet, name="world", when="now", task="this")
    assert app.schedules["x"]["payload"] == {"name": "world", "when": "now", "task": "this"}


async def _greet(name: str, when: str, task: str) -> None:
    """Takes what `schedule` is given by place."""


async def _prioritised(priority: int) -> None:
    """Takes what is a policy, too."""


def test_what_is_over_stays_in_the_code_without_harm(app):
    """A one-off whose instant has passed must not keep the app from starting."""
    app.task(plain)
    app.schedule("once", at("2020-01-01T00:00:00Z"), plain)
    app.schedule("until", every("1m", start_at="2020-01-01T00:00:00Z", end_at="2021-01-01T00:00:00Z"), plain)
    assert set(app.schedules) == {"once", "until"}


def test_retries_in_the_words_of_the_spec(app):
    app.task(retry=exponential(3, base=timedelta(seconds=2), factor=3, cap="1m", jitter=0))(plain)
    assert app.tasks["plain"].defaults["retry"] == {
        "max_attempts": 3, "base": "2s", "factor": 3, "cap": "1m", "jitter": 0,
    }  # fmt: skip


def test_instants_of_any_zone_are_written_in_utc(app):
    assert at(datetime(2030, 1, 1, tzinfo=UTC)).spec == {
        "at": format_instant(datetime(2030, 1, 1, tzinfo=UTC))
    }


def test_what_apps_import_is_loaded_when_it_is_asked_for():
    """So that `detent next` starts at once. And an app needs neither the driver nor the store."""
    ran = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("module 'detent' has no attribute 'nothing'\n", "")
