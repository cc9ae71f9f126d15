"""Many schedules in one transaction: the same checks, and the same first window, as one by one."""

from __future__ import annotations

import pytest

from detent.commands.bulk import create_many
from detent.commands.schedules import Actor, NotFound
from tests.house import ME, whole

SPECS = [
    {"trigger": {"cron": "*/10 * * * * *"}},
    {"trigger": {"at": "2026-03-01T00:00:00.100Z"}},
    {"trigger": {"at": "2026-02-28T23:59:59Z"}},
    {"trigger": {"every": "7s"}, "max_firings": 2},
    {"trigger": {"cron": "*/10 * * * * *"}, "jitter": "3s"},
    {"trigger": {"cron": "*/10 * * * * *"}, "paused": True},
    {"trigger": {"cron": "0 5 * * *"}, "priority": 9, "pool": "big", "overlap": "allow", "max_concurrent": 3},
    {"trigger": {"cron": "*/10 * * * * *", "exclude": {"weekly": [{"days": "SUN"}]}}},
]


async def many(house, specs, actor=ME):
    async with house.pool.acquire() as connection:
        return await create_many(connection, house.settings, specs, actor)


def named(specs):
    return [whole({"name": f"s{n}", **spec}) for n, spec in enumerate(specs)]


async def ledger(house):
    """All that is on record, but for what is counted up."""
    found = {}
    for table, without in {
        "schedule": "'id', 'created_at'", "timer": "'schedule_id', 'shard'", "firing": "'schedule_id', 'due_at'",
        "waiting": "'schedule_id', 'due_at'", "omission": "'schedule_id'", "revision": "'schedule_id'",
    }.items():  # fmt: skip
        key = "t.id" if table == "schedule" else "t.schedule_id"
        rows = await house.fetch(
            f"select s.name, to_jsonb(t) - array[{without}] as row from detent.{table} t"
            f" join detent.schedule s on s.id = {key} order by s.name, 2"
        )
        found[table] = [tuple(row) for row in rows]
    return found


async def test_many_at_once_are_as_one_by_one(house):
    assert await many(house, named(SPECS)) == []
    together = await ledger(house)
    for table in ("waiting", "firing", "omission", "timer", "revision", "schedule"):
        await house.execute(f"delete from detent.{table}")
    for spec in named(SPECS):
        await house.act("create", spec)
    one_by_one = await ledger(house)
    for table, rows in together.items():
        assert rows == one_by_one[table], table


async def test_good_ones_are_kept_whatever_the_others_are_like(house):
    await house.create(name="taken", trigger={"cron": "0 5 * * *"})
    refused = await many(
        house,
        [
            whole({"name": "a", "trigger": {"cron": "0 5 * * *"}}),
            whole({"name": "taken", "trigger": {"cron": "0 5 * * *"}}),
            whole({"name": "b", "trigger": {"cron": "61 * * * *"}}),
            whole({"name": "a", "trigger": {"cron": "0 6 * * *"}}),
            whole({"trigger": {"cron": "0 5 * * *"}, "name": None}),
            whole({"name": "c", "trigger": {"cron": "0 5 * * *"}}),
        ],
    )
    assert [(one.place, one.error.code) for one in refused] == [
        (1, "conflict"), (2, "out_of_range"), (3, "conflict"), (4, "bad_name"),
    ]  # fmt: skip
    assert [row[0] for row in await house.fetch("select name from detent.schedule order by 1")] == [
        "a",
        "c",
        "taken",
    ]


async def test_ten_thousand_are_made_and_planned_at_once(house):
    specs = [whole({"name": f"s{n}", "trigger": {"cron": f"{n % 60} * * * * *"}}) for n in range(10_000)]
    assert await many(house, specs) == []
    assert await house.value("select count(distinct shard) from detent.timer") == 256
    due = await house.value("select count(*) from detent.waiting")
    assert due == sum(1 <= n % 60 <= 30 for n in range(10_000))
    await house.execute("delete from detent.waiting; delete from detent.firing; delete from detent.schedule")


async def test_nothing_at_all_is_fine_and_an_unknown_tenant_is_not(house):
    assert await many(house, []) == []
    with pytest.raises(NotFound):
        await many(house, named(SPECS), Actor(by="eve", tenant="nobody"))
