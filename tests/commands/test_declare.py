"""The schedules of an app in the store: what the code says is so, whatever others have made stays theirs."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from detent import Detent, cron, every
from detent.commands.declare import declare_all
from detent.commands.schedules import Actor, Commands
from detent.store import schedules as store

BY_APP, BY_HAND = Actor(by="app shop"), Actor(by="ada")


async def sell() -> None:
    """What the shop does."""


@pytest.fixture
def commands(connection, settings):
    return Commands(connection=connection, settings=settings)


def shop(*names: str, period: str = "5m") -> Detent:
    app = Detent("shop")
    app.task(sell)
    for name in names:
        app.schedule(name, every(period), sell)
    return app


async def declare(commands, app):
    return await declare_all(commands, app.schedules, BY_APP, origin=app.name)


async def spec_of(connection, name):
    return await connection.fetchval(
        "select r.spec->'triggers' from detent.schedule s join detent.revision r on r.schedule_id = s.id"
        " and r.number = s.revision where s.name = $1 and s.status <> 'deleted'",
        name,
    )


async def revisions(connection, name):
    return await connection.fetchval("select revision from detent.schedule where name = $1", name)


# R-API-7
async def test_what_is_new_is_made_what_changed_is_edited_and_the_rest_is_left_alone(commands, connection):
    first = await declare(commands, shop("a", "b"))
    again = await declare(commands, shop("a", "b"))
    assert (first.changed, again.changed, again.unchanged) == (["a", "b"], [], ["a", "b"])
    assert [await revisions(connection, name) for name in ("a", "b")] == [1, 1]
    edited = shop("a", period="10m")
    edited.schedule("b", every("5m"), sell)
    third = await declare(commands, edited)
    assert (third.changed, third.unchanged) == (["a"], ["b"])
    assert '"every": "10m"' in await spec_of(connection, "a")
    by, reason = await connection.fetchrow("select by, reason from detent.revision where number = 2")
    assert (by, reason) == ("app shop", None)


async def test_what_the_code_no_longer_says_stays_and_is_named(commands, connection):
    await declare(commands, shop("a", "b"))
    done = await declare(commands, shop("b"))
    assert done.left == ["a"]
    assert await connection.fetchval("select status from detent.schedule where name = 'a'") == "active"


async def test_schedules_of_others_are_not_touched(commands, connection):
    made = {"name": "a", "trigger": {"every": "1h"}, "target": {"task": "sell"}}
    await commands.create(made, BY_HAND)
    await declare(commands, shop("b"))
    other = Detent("other")
    other.task(sell)
    other.schedule("a", every("5m"), sell)
    other.schedule("b", every("9m"), sell)
    other.schedule("c", every("9m"), sell)
    done = await declare(commands, other)
    assert done.changed == ["c"]
    assert {name: str(error) for name, error in done.refused.items()} == {
        "a": 'there is a schedule "a" already, made by hand: choose another name',
        "b": 'there is a schedule "b" already, made by the app "shop": choose another name',
    }
    assert '"every": "1h"' in await spec_of(connection, "a")


async def test_an_edit_by_hand_holds_until_the_code_says_something_else(commands, connection):
    await declare(commands, shop("a"))
    by_hand = {"name": "a", "trigger": {"every": "1h"}, "target": {"task": "sell"}}
    await commands.edit("a", by_hand, BY_HAND)
    await declare(commands, shop("a"))
    assert '"every": "1h"' in await spec_of(connection, "a")
    await declare(commands, shop("a", period="7m"))
    assert '"every": "7m"' in await spec_of(connection, "a")


async def test_a_pause_outlasts_a_deployment(commands, connection):
    await declare(commands, shop("a"))
    await commands.pause("a", BY_HAND)
    await declare(commands, shop("a", period="7m"))
    assert await connection.fetchval("select status from detent.schedule") == "paused"


async def test_one_that_is_refused_does_not_keep_the_others_out(commands, connection):
    """The tenant's minimum is a minute; the code can't know it."""
    app = shop("slow")
    app.schedule("quick", every("1s"), sell)
    app.schedule("daily", cron("0 2 * * *"), sell)
    done = await declare(commands, app)
    assert done.changed == ["slow", "daily"]
    assert "this tenant's minimum interval is 1 minute" in str(done.refused["quick"])
    await store.set_min_interval(connection, "default", timedelta(seconds=1))
    assert (await declare(commands, app)).changed == ["quick"]


async def test_many_processes_may_declare_at_once(connect, settings, connection):
    app = shop(*(f"s{n}" for n in range(20)))
    crowd = [Commands(connection=await connect(), settings=settings) for _ in range(4)]
    done = await asyncio.gather(*(declare(commands, app) for commands in crowd))
    assert not [one.refused for one in done if one.refused]
    assert sorted(name for one in done for name in one.changed) == sorted(app.schedules)
    assert await connection.fetchval("select count(*) from detent.schedule where revision = 1") == 20
