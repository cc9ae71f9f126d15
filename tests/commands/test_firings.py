"""What a person can ask of single firings: cancel, rerun, replay, discard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.commands.firings import MOST, Firings
from detent.commands.schedules import Actor, Conflict, NotFound
from detent.domain.errors import SpecError
from detent.domain.identity import firing_id, firing_key
from detent.domain.need import need_of
from detent.store import claiming, nodes
from detent.store.claiming import Claimed
from tests.house import ME, at
from tests.races.scene import AHEAD, LONG_AGO, conclude

HOURLY = "0 * * * *"
ABLE = [need_of({"task": "t"})]


class Desk:
    """A person before a house, and a worker who does what the test says."""

    def __init__(self, house):
        self.house = house
        self.node = 7

    async def ask(self, verb, *arguments, actor=ME, **named):
        async with self.house.pool.acquire() as connection:
            return await getattr(Firings(connection=connection), verb)(*arguments, actor, **named)

    async def fires(self, outcome=None, verdict="conclude"):
        """A firing of a schedule, and how it ends, if it does. Its id."""
        if not await self.house.value("select count(*) from detent.schedule"):
            await self.house.create(trigger={"cron": HOURLY}, retry={"max_attempts": 1})
            async with self.house.pool.acquire() as connection:
                await nodes.register_node(connection, self.node, "worker", "1", "2026a", 10**6)
        when = await self.house.act("trigger", "s")
        schedule_id = await self.house.value("select id from detent.schedule")
        if outcome:
            await self.runs(outcome, verdict)
        return firing_id(schedule_id, when)

    async def claim(self, connection):
        rows = await claiming.claim(connection, self.node, "default", {14: 100}, [LONG_AGO], AHEAD, ABLE)
        return [Claimed(*row) for row in rows]

    async def runs(self, outcome, verdict="conclude"):
        async with self.house.pool.acquire() as connection:
            claimed = await self.claim(connection)
            await conclude(connection, self.node, *claimed, outcome=outcome, verdict=verdict)
        return claimed


@pytest.fixture
async def desk(house):
    return Desk(house)


# R-API-1
async def test_a_waiting_firing_is_cancelled_at_once_with_who_and_why(desk, house):
    firing = await desk.fires()
    assert await desk.ask("cancel", firing) is True
    assert await house.places() == [("00:00:00.000001", "cancelled: asked")]
    assert await house.value("select error from detent.attempt") == "ada: because"
    assert await house.value("select sum(n) from detent.tally where outcome = 'cancelled'") == 1
    with pytest.raises(Conflict, match="is over"):
        await desk.ask("cancel", firing)


async def test_a_slot_that_was_cancelled_does_not_come_back_with_an_edit_or_a_resume(desk, house):
    await desk.fires("succeeded")
    house.turn("00:59:45")
    await house.plan()
    slot = firing_id(await house.value("select id from detent.schedule"), at("01:00:00"))
    assert await desk.ask("cancel", slot) is True
    await house.edit(trigger={"cron": HOURLY}, description="another")
    await house.pause()
    await house.resume()
    await house.tick("01:00:01")
    assert (await house.places())[-1] == ("01:00:00", "cancelled: asked")


async def test_a_running_firing_is_asked_to_end(desk, house):
    firing = await desk.fires()
    async with house.pool.acquire() as connection:
        (claimed,) = await desk.claim(connection)
    assert await desk.ask("cancel", firing) is False
    assert await house.value("select cancel from detent.running") == "asked: ada: because"
    async with house.pool.acquire() as connection:
        await conclude(connection, desk.node, claimed, outcome="cancelled")


async def test_a_dead_one_is_not_cancelled(desk):
    firing = await desk.fires("failed", "die")
    with pytest.raises(Conflict, match="is dead: replay it, or discard it"):
        await desk.ask("cancel", firing)


# R-EXEC-5
async def test_a_dead_letter_is_replayed_under_its_key_as_the_next_attempt(desk, house):
    firing = await desk.fires("failed", "die")
    assert await desk.ask("replay", [firing]) == [firing]
    assert await house.places() == [("00:00:00.000001", "waiting")]
    (claimed,) = await desk.runs("succeeded")
    assert (firing_id(claimed.schedule_id, claimed.scheduled_for), claimed.number) == (firing, 2)
    assert await desk.ask("replay", [firing]) == [], "it is not dead any more"
    rows = await house.fetch("select number, outcome, final from detent.attempt order by number")
    assert [tuple(row) for row in rows] == [(1, "failed", False), (2, "succeeded", True)]


async def test_a_replay_of_a_paused_schedule_runs_and_one_of_a_deleted_schedule_stays_dead(desk, house):
    first = await desk.fires("failed", "die")
    second = await desk.fires("failed", "die")
    await house.pause()
    assert await desk.ask("replay", [first]) == [first]
    assert len(await desk.runs("succeeded")) == 1
    await house.act("delete", "s")
    assert await desk.ask("replay", [second]) == []
    assert await desk.ask("discard", [second]) == [second]


# R-EXEC-5
async def test_a_dead_letter_is_discarded_for_good(desk, house):
    firing = await desk.fires("failed", "die")
    assert await desk.ask("discard", [firing]) == [firing]
    assert await house.places() == [("00:00:00.000001", "discarded: asked")]
    assert await desk.ask("discard", [firing]) == []
    assert await desk.ask("replay", [firing]) == []


# R-EXEC-5
async def test_dead_letters_are_listed_page_by_page_and_replayed_in_bulk(desk, house):
    dead = []
    for n in range(7):
        house.turn(timedelta(seconds=n))
        dead.append(await desk.fires("failed", "die"))
    pages, last = [], None
    while page := await desk.ask("dead", after=last, limit=3):
        pages.append(page)
        last = page[-1]
    assert [len(page) for page in pages] == [3, 3, 1]
    listed = [letter for page in pages for letter in page]
    assert [firing_id(letter.schedule_id, letter.scheduled_for) for letter in listed] == dead
    assert {(letter.name, letter.number, letter.outcome) for letter in listed} == {("s", 1, "failed")}
    assert await desk.ask("dead", schedule_id=listed[0].schedule_id + 1) == []
    assert sorted(await desk.ask("replay", dead * 2)) == sorted(dead), "each once"
    assert await desk.ask("replay", []) == []
    with pytest.raises(Conflict, match=f"at most {MOST}"):
        await desk.ask("replay", dead * MOST)
    await house.execute("delete from detent.waiting; delete from detent.firing; delete from detent.attempt")


# R-API-1
async def test_a_rerun_is_a_new_firing_for_the_old_slot(desk, house):
    await desk.fires("succeeded")
    await house.tick("00:59:45")
    house.turn("01:00:00")
    (slot,) = await desk.runs("failed")
    first = firing_id(slot.schedule_id, slot.scheduled_for)
    house.turn("03:00:00")
    second = await desk.ask("rerun", first)
    assert firing_key(second)[1].microsecond % 1000 != 0
    (claimed,) = await desk.runs("succeeded")
    assert (claimed.kind, claimed.slot_at, claimed.number) == ("rerun", at("01:00:00"), 1)
    third = await desk.ask("rerun", second)
    (claimed,) = await desk.runs("succeeded")
    assert (claimed.kind, claimed.slot_at) == ("rerun", at("01:00:00")), "of a rerun, too"
    assert len({first, second, third}) == 3


async def test_only_what_is_over_is_run_again(desk, house):
    waiting = await desk.fires()
    with pytest.raises(Conflict, match="is not over"):
        await desk.ask("rerun", waiting)
    await desk.runs("failed", "die")
    with pytest.raises(Conflict, match="replay it if it is dead"):
        await desk.ask("rerun", waiting)
    await desk.ask("discard", [waiting])
    await house.act("delete", "s")
    with pytest.raises(Conflict, match="was deleted"):
        await desk.ask("rerun", waiting)
    await house.create(trigger={"cron": HOURLY})  # the name is another schedule's now
    with pytest.raises(Conflict, match="was deleted"):
        await desk.ask("rerun", waiting)


async def test_what_is_no_firing_of_mine_is_none(desk, house):
    firing = await desk.fires("failed", "die")
    await house.execute("insert into detent.tenant (name) values ('other')")
    eve = Actor(by="eve", tenant="other")
    unknown = firing_id(firing_key(firing)[0], at("00:30:00"))
    for verb in ("cancel", "rerun"):
        with pytest.raises(NotFound, match="no firing"):
            await desk.ask(verb, firing, actor=eve)
        with pytest.raises(NotFound, match="no firing"):
            await desk.ask(verb, unknown)
        with pytest.raises(SpecError, match="is no firing id"):
            await desk.ask(verb, "f_nonsense")
    for verb in ("replay", "discard"):
        assert await desk.ask(verb, [firing], actor=eve) == []
        assert await desk.ask(verb, [unknown]) == []
    assert await desk.ask("dead", actor=eve) == []
    with pytest.raises(NotFound, match="no tenant"):
        await desk.ask("dead", actor=Actor(by="eve", tenant="nobody"))


@pytest.mark.parametrize(
    ("schedule_id", "when"),
    [(2**63, datetime(2026, 3, 1, tzinfo=UTC)), (2**64 - 1, datetime(2026, 3, 1, tzinfo=UTC)), (1, datetime(9999, 12, 31, tzinfo=UTC)), (1, datetime(1, 1, 1, tzinfo=UTC))],
)  # fmt: skip
async def test_an_id_that_no_firing_can_have_is_refused(desk, schedule_id, when):
    with pytest.raises(SpecError, match="is no firing id"):
        await desk.ask("cancel", firing_id(schedule_id, when))
