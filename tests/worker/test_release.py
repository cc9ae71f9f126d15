"""When firings begin: never early, hardly late, and in what order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from statistics import median

from detent import Context, clock
from detent.clock import DatabaseClock
from detent.domain.instant import format_instant
from detent.targets.registry import Registry
from detent.worker.hand import Held
from detent.worker.release import Release


async def now_of(crew):
    return await crew.watcher.fetchval("select date_trunc('milliseconds', clock_timestamp())")


async def test_none_begins_before_its_instant_and_hardly_one_much_after(crew):
    """By the real-time clock that the database on this machine reads, too."""
    began: dict[float, float] = {}

    async def stamp(context: Context) -> None:
        began[context.scheduled_for.timestamp()] = clock.realtime()

    await crew.does(stamp)
    await crew.hire(concurrency=200)
    first = await now_of(crew) + timedelta(seconds=1.5)
    instants = [first + timedelta(milliseconds=7 * n) for n in range(200)]
    for start in range(0, 200, 20):
        spec = {
            "name": f"s{start}", "target": {"task": "stamp"}, "overlap": "allow",
            "triggers": [{"at": format_instant(at)} for at in instants[start : start + 20]],
        }  # fmt: skip
        await crew.create(**spec)
    await crew.concluded(200)
    lags = [began[at.timestamp()] - at.timestamp() for at in instants]
    assert min(lags) >= 0
    assert median(lags) < 0.05
    early = "select count(*) from detent.attempt a join detent.firing f using (schedule_id, scheduled_for) where a.started_at < f.due_at"
    assert await crew.watcher.fetchval(early) == 0, "the ledger says so, too"


# R-EXEC-9
async def test_the_urgent_go_first_where_places_are_few(crew):
    order = []

    async def note(context: Context) -> None:
        order.append(context.schedule_id)

    calm = await crew.does(note, "calm", priority=0, overlap="allow")
    urgent = await crew.does(note, "urgent", priority=9, overlap="allow")
    await crew.fire("calm", 40)
    await crew.fire("urgent", 40)
    await crew.hire(concurrency=1)
    await crew.concluded(80)
    first = order[:40]
    assert first.count(urgent) >= 25, "ten times the weight, though younger"
    assert calm in first, "and nobody starves"


async def test_what_waits_behind_a_taken_seat_is_not_forgotten(crew):
    """A firing that was refused for its seat lies before others that were granted. It must go as soon as its seat is
    free, not when all is looked through again."""

    async def quick() -> None:
        """Nothing."""

    one = await crew.does(quick, "one")
    await crew.does(quick, "two")
    await crew.fire("one", 3)
    await crew.fire("two")
    await crew.watcher.execute(
        "update detent.waiting set due_at = now() - make_interval(mins => 10)"
        " + (case when schedule_id = $1 then (scheduled_for - now()) else interval '1 min' end)",
        one,
    )
    await crew.hire()
    await crew.concluded(4)
    took = await crew.watcher.fetchval("select max(started_at) - min(started_at) from detent.attempt")
    assert took < timedelta(seconds=1)
    assert await crew.ends("one") == [(1, "succeeded", True)] * 3


async def test_what_was_claimed_ahead_waits_on_if_the_databases_clock_is_set_back(monkeypatch):
    now, passed, started = datetime(2026, 3, 1, 12, tzinfo=UTC), 1_000.0, []
    monkeypatch.setattr(clock, "monotonic", lambda: passed)
    known = DatabaseClock()
    known.observe(now, passed)
    release = Release(known, started.extend)
    due_at = now + timedelta(milliseconds=200)
    held = Held((1, due_at, 0, 1, 1, due_at), Registry({}).call("{}"), 1, passed, known.offset)
    release.deliver([held])
    known.observe(now - timedelta(seconds=2), passed)
    passed += 0.3
    release.release()
    assert started == []
    passed += 2
    release.release()
    assert started == [held]
