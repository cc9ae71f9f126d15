"""Pauses: nothing is claimed from the commit on, nothing due before its end is lost to a short one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from detent.commands.schedules import Conflict
from detent.domain.errors import SpecError
from detent.node.pauses import Pauses
from tests.house import at

DAILY, HOURLY = "0 2 * * *", "0 * * * *"


async def test_a_pause_that_ends_before_the_slot_keeps_it(house):
    """Paused at 01:59:50, resumed at 01:59:55: 02:00 was promised before, and still fires."""
    await house.create(trigger={"cron": DAILY})
    await house.tick("01:59:40")
    house.turn("01:59:50")
    await house.pause()
    assert await house.places() == [("02:00:00", "held: paused")]
    await house.tick("01:59:52")
    house.turn("01:59:55")
    await house.resume()
    assert await house.places() == [("02:00:00", "waiting")]
    assert await house.cursor() == "02 02:00:00"
    await house.tick("02:00:10")
    assert await house.places() == [("02:00:00", "waiting")]


async def test_the_same_for_a_one_off(house):
    await house.create(trigger={"at": "2026-03-01T02:00:00Z"})
    await house.tick("01:59:40")
    house.turn("01:59:50")
    await house.pause()
    house.turn("01:59:55")
    await house.resume()
    assert await house.places() == [("02:00:00", "waiting")]
    assert await house.omissions() == []


async def test_what_falls_into_a_pause_does_not_fire_afterwards(house):
    house.turn("01:30:00")
    await house.create(trigger={"cron": HOURLY})
    await house.tick("01:59:40")
    house.turn("01:59:50")
    await house.pause()
    await house.tick("02:00:01")
    assert await house.places() == [("02:00:00", "withdrawn: paused")]
    house.turn("05:30:00")
    await house.resume()
    await house.tick()
    assert await house.firings() == [("02:00:00", "slot")]
    assert await house.omissions() == [("03:00:00", "05:30:00", "paused", 3)]
    assert await house.cursor() == "06:00:00"


async def test_a_pause_accounts_for_what_was_due_before_it_and_then_withholds_it(house):
    """It was due, and nobody had planned it: a firing, which the pause withholds."""
    await house.create(trigger={"cron": HOURLY})
    house.turn("01:00:05")
    await house.pause()
    assert await house.places() == [("01:00:00", "held: paused")]
    await house.tick("01:00:06")
    house.turn("03:30:00")
    await house.resume()
    assert await house.places() == [("01:00:00", "withdrawn: paused")]
    assert await house.omissions() == [("02:00:00", "03:30:00", "paused", 2)]


async def test_two_pauses_in_a_row_keep_the_later_reason_and_end(house):
    await house.create(trigger={"cron": HOURLY})
    await house.pause(until=at("03:00:00"))
    await house.pause(until=at("05:00:00"))
    assert await house.value("select paused_until from detent.schedule") == at("05:00:00")
    assert await house.value("select status_reason from detent.schedule") == "because"


async def test_a_pause_with_an_end_ends_by_itself(house):
    await house.create(trigger={"cron": HOURLY})
    await house.pause(until=at("03:00:00"))
    pauses = Pauses(house.pool, house.settings, house.events)
    house.turn("02:59:59")
    await pauses.tick()
    assert await house.value("select status from detent.schedule") == "paused"
    house.turn("03:00:00.500")
    await pauses.tick()
    assert await house.value("select status from detent.schedule") == "active"
    await house.tick("03:59:45")
    assert await house.firings() == [("03:00:00", "slot"), ("04:00:00", "slot")]
    assert await house.omissions() == [("01:00:00", "03:00:00", "paused", 2)]
    assert await house.value("select by from detent.revision") == "ada", "a pause is no revision"


async def test_what_was_promised_for_the_end_of_a_pause_is_not_withheld_by_it(house):
    await house.create(trigger={"cron": HOURLY})
    await house.tick("00:59:45")
    await house.pause(until=at("01:00:00"))
    assert await house.places() == [("01:00:00", "waiting")]
    await house.pause(until=at("01:00:00.001"))
    assert await house.places() == [("01:00:00", "held: paused")]
    await house.pause(until=at("01:00:00"))
    await house.tick("01:00:00.500")
    await Pauses(house.pool, house.settings, house.events).tick()
    assert await house.places() == [("01:00:00", "waiting")]


async def test_a_pause_whose_end_nobody_noticed_for_hours_ends_by_the_misfire_policy(house):
    await house.create(trigger={"cron": HOURLY}, misfire={"policy": "fire_all", "cap": 2})
    await house.pause(until=at("02:00:00"))
    house.turn("05:30:00")
    await Pauses(house.pool, house.settings, house.events).tick()
    assert await house.firings() == [("04:00:00", "catch_up"), ("05:00:00", "catch_up")]
    assert await house.omissions() == [
        ("01:00:00", "02:00:00", "paused", 1),
        ("02:00:00", "04:00:00", "misfire", 2),
    ]


async def test_excluded_slots_that_are_on_record_are_not_recorded_again_by_a_resume(house):
    """01:00:02 was omitted before the pause, with the look-ahead; 01:00:32 comes with the resume."""
    house.turn("00:59:35")
    night = {"weekly": [{"days": "*", "from": "01:00", "to": "02:00"}]}
    await house.create(trigger={"cron": "2,32 * * * * *", "exclude": night})
    await house.tick("00:59:40")
    assert await house.omissions() == [("01:00:02", "01:00:02.001", "excluded", 1)]
    await house.pause()
    house.turn("00:59:50")
    await house.resume()
    assert await house.omissions() == [("01:00:02", "01:00:02.001", "excluded", 1)]
    await house.pause(until=at("01:00:00"))
    house.turn("01:00:05")
    await Pauses(house.pool, house.settings, house.events).tick()
    assert await house.omissions() == [
        ("01:00:02", "01:00:02.001", "excluded", 1),
        ("01:00:32", "01:00:32.001", "excluded", 1),
    ]


async def test_a_pause_that_was_prolonged_in_time_does_not_end(house):
    await house.create(trigger={"cron": HOURLY})
    await house.pause(until=at("03:00:00"))
    house.turn("03:00:01")
    await house.pause(until=at("05:00:00"))
    with pytest.raises(Conflict, match="is not over"):
        await house.act("end_pause", "s")


async def test_a_pause_can_not_end_in_the_past(house):
    await house.create(trigger={"cron": HOURLY})
    house.turn("02:00:00")
    with pytest.raises(SpecError, match="must lie ahead"):
        await house.pause(until=at("01:00:00"))


async def test_an_edit_during_a_pause_holds_from_the_resume_on(house):
    await house.create(trigger={"cron": DAILY})
    await house.tick("01:59:40")
    house.turn("01:59:45")
    await house.pause()
    house.turn("01:59:46")
    await house.edit(trigger={"cron": "*/10 * * * * *"})
    assert await house.value("select status from detent.schedule") == "paused"
    house.turn("01:59:55")
    await house.resume()
    assert [slot for slot, place in await house.places() if place == "waiting"] == [
        "02:00:00",
        "02:00:10",
        "02:00:20",
    ]
    assert await house.omissions() == [("01:59:46.000001", "01:59:55", "paused", 1)]


async def test_an_edit_during_a_pause_withdraws_what_it_does_not_yield(house):
    await house.create(trigger={"cron": DAILY})
    await house.tick("01:59:40")
    house.turn("01:59:45")
    await house.pause()
    house.turn("01:59:46")
    await house.edit(trigger={"cron": "0 5 * * *"})
    house.turn("01:59:55")
    await house.resume()
    await house.tick("02:00:01")
    assert await house.places() == [("02:00:00", "withdrawn: edited")]
    assert await house.cursor() == "05:00:00"


async def test_a_schedule_made_paused_begins_with_its_resume(house):
    await house.create(trigger={"cron": "*/10 * * * * *"}, paused=True)
    await house.tick("00:01:05")
    assert await house.firings() == []
    await house.resume()
    await house.tick()
    assert await house.omissions() == [("00:00:00.000001", "00:01:05", "paused", 6)]
    assert [slot for slot, _ in await house.firings()] == ["00:01:10", "00:01:20", "00:01:30"]


async def test_an_edit_that_says_paused_pauses(house):
    await house.create(trigger={"cron": "*/10 * * * * *"})
    house.turn("00:00:05")
    await house.edit(trigger={"cron": "*/10 * * * * *"}, paused=True)
    assert await house.value("select status from detent.schedule") == "paused"
    assert {place for _, place in await house.places()} == {"held: paused"}
    house.turn("00:00:06")
    await house.edit(trigger={"cron": "*/10 * * * * *"}, paused=False)
    assert {place for _, place in await house.places()} == {"waiting"}


async def test_what_is_not_paused_can_not_be_resumed(house):
    await house.create(trigger={"cron": HOURLY})
    with pytest.raises(Conflict, match="is not paused"):
        await house.resume()


async def test_pauses_and_resumes_in_one_second_lose_nothing(house):
    await house.create(trigger={"cron": HOURLY})
    await house.tick("00:59:45")
    for _ in range(10):
        house.turn(timedelta(seconds=0.7))
        await house.pause()
        house.turn(timedelta(seconds=0.7))
        await house.resume()
    assert await house.places() == [("01:00:00", "waiting")]


async def test_firings_counted_before_a_pause_are_counted_once(house):
    await house.create(trigger={"cron": "*/10 * * * * *"}, max_firings=4)
    house.turn("00:00:15")
    await house.pause()
    house.turn("00:00:16")
    await house.resume()
    await house.tick("00:01:00")
    assert [slot for slot, _ in await house.firings()] == ["00:00:10", "00:00:20", "00:00:30", "00:00:40"]
