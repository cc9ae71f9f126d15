"""People who meet people: on a name, on a timer, on a schedule."""

from __future__ import annotations

import asyncio

import pytest

from detent.commands.bulk import create_many
from detent.commands.declare import declare_all
from detent.commands.schedules import Conflict, NotFound
from tests.races.people import ADA, SETTINGS, spec

NOON = "2026-03-01T12:00:00.000Z"


# R-API-2
async def test_of_two_editors_the_second_waits_and_edits_what_the_first_made(scene):
    ada, bob = await scene.person(), await scene.person()
    await ada.create()
    async with ada.busy():
        await ada.edit(spec(every="20s"))
        late = await scene.meets(bob.session, bob.edit(spec(priority=7)), by=ada.session)
    assert await late == 3
    rows = await scene.watcher.fetch(
        "select number, valid_to is null as holds from detent.revision order by number"
    )
    assert [tuple(row) for row in rows] == [(1, False), (2, False), (3, True)]
    assert await scene.watcher.fetchval("select revision from detent.timer") == 3
    assert (
        await scene.watcher.fetchval("select count(distinct lane) from detent.waiting where held is null")
        == 1
    )


async def test_an_editor_who_waited_for_one_that_gave_up_edits_the_first_revision(scene):
    ada, bob = await scene.person(), await scene.person()
    await ada.create()
    transaction = ada.session.transaction()
    await transaction.start()
    await ada.edit(spec(every="20s"))
    late = await scene.meets(bob.session, bob.edit(spec(priority=7)), by=ada.session)
    await transaction.rollback()
    assert await late == 2


@pytest.mark.parametrize("verb", ["pause", "resume", "delete", "trigger", "edit"])
async def test_whoever_waited_for_a_deletion_finds_no_schedule_and_does_not_bring_it_back(scene, verb):
    ada, bob = await scene.person(), await scene.person()
    await ada.create()
    async with ada.busy():
        await ada.delete()
        asked = bob.edit(spec()) if verb == "edit" else getattr(bob, verb)()
        late = await scene.meets(bob.session, asked, by=ada.session)
    with pytest.raises(NotFound):
        await late
    assert await scene.watcher.fetchval("select status from detent.schedule") == "deleted"
    assert await scene.watcher.fetchval("select bool_or(active) from detent.timer") is False
    assert await scene.watcher.fetchval("select count(*) from detent.waiting where held is null") == 0


async def test_an_edit_that_waited_for_a_deletion_and_a_creation_edits_the_new_one(scene):
    ada, bob = await scene.person(), await scene.person()
    first = await ada.create()
    async with ada.busy():
        await ada.delete()
        second = await ada.create()
        late = await scene.meets(bob.session, bob.edit(spec(priority=7)), by=ada.session)
    assert await late == 2
    rows = await scene.watcher.fetch("select id, revision, status from detent.schedule order by id")
    assert [tuple(row) for row in rows] == [(first, 1, "deleted"), (second, 2, "active")]


async def test_two_pauses_and_a_pause_that_meets_an_edit_leave_it_paused(scene):
    ada, bob, eve = await scene.person(), await scene.person(), await scene.person()
    await ada.create()
    async with ada.busy():
        await ada.pause()
        edit = await scene.meets(bob.session, bob.edit(spec(every="15s")), by=ada.session)
        again = await scene.meets(eve.session, eve.pause())
    await asyncio.gather(edit, again)
    assert await scene.watcher.fetchval("select status from detent.schedule") == "paused"
    assert await scene.watcher.fetchval("select active from detent.timer") is False
    assert await scene.watcher.fetchval("select count(*) from detent.waiting where held is null") == 0


async def test_of_two_resumes_one_resumes_and_the_other_is_told(scene):
    """A person, and the end of the pause at the same moment."""
    ada, bob = await scene.person(), await scene.person()
    await ada.create()
    await ada.pause()
    async with ada.busy():
        await ada.resume()
        late = await scene.meets(bob.session, bob.resume(), by=ada.session)
    with pytest.raises(Conflict):
        await late
    assert await scene.watcher.fetchval("select count(*) from detent.omission") <= 1
    assert await scene.watcher.fetchval("select count(*) from detent.waiting where held is not null") == 0


# R-API-3
async def test_of_two_creations_under_one_name_the_second_waits_and_is_refused(scene):
    ada, bob = await scene.person(), await scene.person()
    async with ada.busy():
        await ada.create()
        late = await scene.meets(bob.session, bob.create(), by=ada.session)
    with pytest.raises(Conflict):
        await late
    assert await scene.watcher.fetchval("select count(*) from detent.schedule") == 1
    assert await scene.watcher.fetchval("select count(*) from detent.timer") == 1


async def test_a_creation_that_waited_for_a_deletion_gets_the_name(scene):
    ada, bob = await scene.person(), await scene.person()
    await ada.create()
    async with ada.busy():
        await ada.delete()
        late = await scene.meets(bob.session, bob.create(), by=ada.session)
    assert await late
    assert await scene.watcher.fetchval("select count(*) from detent.schedule where status = 'active'") == 1


async def test_two_processes_of_an_app_declare_the_same_new_schedule_and_one_makes_it(scene):
    ada, bob = await scene.person(), await scene.person()
    async with ada.busy():
        assert await ada.declare(spec()) is True
        declaring = declare_all(bob.commands, {"s": spec()}, ADA, origin="app")
        late = await scene.meets(bob.session, declaring, by=ada.session)
    assert (await late).unchanged == ["s"]
    assert await scene.watcher.fetchval("select count(*) from detent.revision") == 1


async def test_two_processes_of_an_app_declare_the_same_change_and_one_makes_it(scene):
    ada, bob = await scene.person(), await scene.person()
    await ada.declare(spec())
    async with ada.busy():
        assert await ada.declare(spec(every="20s")) is True
        late = await scene.meets(bob.session, bob.declare(spec(every="20s")), by=ada.session)
    assert await late is False
    assert await scene.watcher.fetchval("select count(*) from detent.revision") == 2


async def test_two_imports_that_bring_the_same_names_in_opposite_orders_wait_in_one_direction(scene):
    ada, bob = await scene.person(), await scene.person()
    given = [spec(f"s{n}") for n in range(50)]
    first, second = await asyncio.gather(
        create_many(ada.session, SETTINGS, given, ADA),
        create_many(bob.session, SETTINGS, given[::-1], ADA),
    )
    assert len(first) + len(second) == 50
    assert all(refused.error.code == "conflict" for refused in (*first, *second))
    assert await scene.watcher.fetchval("select count(*) from detent.schedule") == 50
    assert await scene.deadlocks() == 0


async def test_an_import_that_waits_in_the_middle_of_another_takes_what_is_left(scene):
    ada, bob = await scene.person(), await scene.person()
    async with ada.busy():
        await create_many(ada.session, SETTINGS, [spec("b"), spec("d")], ADA)
        late = await scene.meets(
            bob.session,
            create_many(bob.session, SETTINGS, [spec(n) for n in "edcba"], ADA),
            by=ada.session,
        )
    assert [refused.place for refused in await late] == [1, 3]
    assert await scene.watcher.fetchval("select count(*) from detent.timer") == 5


# R-API-1
async def test_two_triggers_at_the_same_microsecond_are_two_firings(scene):
    """A database whose clock stands still, or was set back: identities are taken, so the next free one is."""
    ada, bob = await scene.person(at=NOON), await scene.person(at=NOON)
    await ada.create()
    async with ada.busy():
        first = await ada.trigger()
        late = await scene.meets(bob.session, bob.trigger(), by=ada.session)
    instants = {first, await late, *[await ada.trigger() for _ in range(1000)]}
    assert len(instants) == 1002
    assert all(at.microsecond % 1000 for at in instants), "no slot can have such an instant"
    manual = "select count(*) from detent.firing f join detent.waiting using (schedule_id, scheduled_for) where f.kind = 'manual'"
    assert await scene.watcher.fetchval(manual) == 1002
