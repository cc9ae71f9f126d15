"""Webhooks through a whole Detent: what the receiver saw, and what the ledger says of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from standardwebhooks import Webhook

from detent.commands.secrets import Secrets
from detent.domain.identity import firing_id
from detent.sealing import new_key
from tests.sink import answers, hang, in_turn, open_sink, reset
from tests.works import ME, open_works

KEY = new_key()


@pytest.fixture
async def sink():
    async with open_sink() as opened:
        yield opened


@pytest.fixture
async def works(settings):
    opened = await open_works(replace(settings, secret_key=KEY, http_allow="127.0.0.1"))
    try:
        yield opened
        assert await opened.judge() == []
    finally:
        await opened.close()
        opened.watcher.terminate()


def target(sink, path="/", **more):
    return {"http": {"url": sink.url(path), "timeout": "5s", **more}}


async def ledger(works):
    """(key, number, outcome, code) of all attempts."""
    rows = await works.watcher.fetch("select * from detent.attempt order by scheduled_for, number")
    return [
        (firing_id(r["schedule_id"], r["scheduled_for"]), r["number"], r["outcome"], r["code"]) for r in rows
    ]


# R-TARGET-1, R-TARGET-2
async def test_a_firing_is_delivered_signed_and_on_record(works, sink):
    await works.worker({})
    await works.create(name="nightly", target=target(sink), payload={"team": "ops"})
    (at,) = await works.trigger("nightly")
    await works.until_concluded()
    (one,) = sink.received
    schedule_id = await works.watcher.fetchval("select id from detent.schedule")
    assert one.headers["webhook-id"] == firing_id(schedule_id, at)
    assert one.headers["detent-schedule"] == "nightly"
    (secret,) = await Secrets(connection=works.watcher, settings=works.settings).signing(ME)
    assert Webhook(secret).verify(one.body, one.headers) == {"team": "ops"}
    (attempt,) = await works.attempts("nightly")
    assert (attempt["outcome"], attempt["number"], attempt["excerpt"]) == ("succeeded", 1, "200 ok")
    assert str(attempt["volley"]) == one.headers["detent-fencing-token"]


# R-EXEC-1, R-EXEC-4
async def test_attempts_of_a_firing_share_its_key_and_their_tokens_grow(works, sink):
    sink.behave("/", in_turn(answers(503, b"busy"), reset, answers(429), answers(200, b"done")))
    await works.worker({})
    await works.create(name="s", target=target(sink), retry={"max_attempts": 5, "base": "1ms", "jitter": 0})
    await works.trigger("s")
    await works.until_concluded()
    assert [(r["outcome"], r["code"], r["excerpt"]) for r in await works.attempts("s")] == [
        ("failed", "503", "busy"), ("failed", "closed", None), ("failed", "429", ""), ("succeeded", None, "200 done"),
    ]  # fmt: skip
    assert len(sink.keys()) == 1
    tokens = [int(one.headers["detent-fencing-token"]) for one in sink.received]
    assert tokens == sorted(set(tokens))
    assert [one.headers["detent-attempt"] for one in sink.received] == ["1", "2", "3", "4"]


# R-EXEC-4, R-EXEC-5
async def test_what_is_final_is_not_tried_again(works, sink):
    sink.behave("/", answers(422, b"no such team"))
    await works.worker({})
    await works.create(name="s", target=target(sink), retry={"max_attempts": 5, "base": "1ms"})
    await works.trigger("s")
    await works.until_concluded()
    assert len(sink.received) == 1
    dead = await works.watcher.fetchrow("select * from detent.dead")
    assert (dead["outcome"], dead["error"]) == ("failed", f"127.0.0.1:{sink.port} answered 422")


# R-EXEC-7
async def test_an_attempt_ends_by_its_time_limit(works, sink):
    sink.behave("/", hang)
    await works.worker({})
    await works.create(name="s", target=target(sink, timeout="300ms"), retry={"max_attempts": 1})
    await works.trigger("s")
    await works.until_concluded()
    (attempt,) = await works.attempts("s")
    assert (attempt["outcome"], attempt["code"]) == ("timed_out", "timeout")
    assert attempt["finished_at"] - attempt["started_at"] < timedelta(seconds=1.3)


# R-EXEC-4
async def test_patience_that_is_asked_for_is_had(works, sink):
    sink.behave("/", in_turn(answers(429, b"", "Retry-After: 1"), answers(200, b"ok")))
    await works.worker({})
    await works.create(name="s", target=target(sink), retry={"max_attempts": 2, "base": "1ms"})
    await works.trigger("s")
    await works.until_concluded()
    first, second = sink.received
    assert 1 <= second.at - first.at < 2.5


# R-TARGET-1
async def test_a_target_that_is_gone_is_not_called_again(works, sink):
    sink.behave("/", answers(410))
    await works.planner()
    await works.worker({})
    await works.create(name="s", trigger={"every": "50ms"}, target=target(sink))
    await works.until("(select status from detent.schedule where name = 's') = 'paused'")
    reason = await works.watcher.fetchval("select status_reason from detent.schedule")
    assert reason == f"127.0.0.1:{sink.port} answered 410, gone"
    await works.until("not exists (select from detent.pause_wish)")


# R-TARGET-2
async def test_a_secret_is_rotated_under_load_without_one_bad_signature(works, sink):
    secrets = Secrets(connection=works.watcher, settings=works.settings)
    await works.worker({}, concurrency=50)
    await works.create(name="s", target=target(sink), overlap="allow")
    known = await secrets.signing(ME)
    await works.trigger("s", 200)
    known.insert(0, (await secrets.rotate_signing(ME))[0])
    await works.trigger("s", 200)
    await works.until_concluded(400)
    for one in sink.received:
        signed_by = 0
        for secret in known:
            try:
                Webhook(secret).verify(one.body, one.headers)
            except Exception:  # noqa: BLE001
                continue
            signed_by += 1
        assert signed_by == len(one.headers["webhook-signature"].split(" "))
    assert set(sink.keys().values()) == {1}


# R-TARGET-3
async def test_a_schedule_that_became_unreachable_is_refused_where_it_is_called(works, sink):
    """It was registered when the allow-list admitted it."""
    await works.create(name="s", target=target(sink), retry={"max_attempts": 3})
    await works.worker({}, settings=replace(works.settings, http_allow=""))
    await works.trigger("s")
    await works.until_concluded()
    (attempt,) = await works.attempts("s")
    assert (attempt["outcome"], attempt["code"]) == ("failed", "refused")
    assert sink.connections == 0


async def test_without_a_key_a_worker_leaves_webhooks_to_those_that_have_one(works, sink):
    await works.create(name="s", target=target(sink))
    await works.worker({}, settings=replace(works.settings, secret_key=None))
    await works.trigger("s")
    await works.worker({})
    await works.until_concluded()
    assert len(sink.received) == 1


# R-EXEC-4
async def test_of_many_firings_over_a_bad_target_none_is_lost_and_the_ledger_is_exact(works, sink):
    """Each attempt that the receiver saw is on record as it ended, and each that is on record was seen."""
    seen = []

    async def moody(one, writer):
        status = (200, 200, 503, 200, 500, 200, 429)[len(seen) % 7]
        seen.append((one.headers["webhook-id"], int(one.headers["detent-attempt"]), status))
        await answers(status)(one, writer)

    sink.behave("/", moody)
    await works.worker({}, concurrency=50)
    await works.worker({}, concurrency=50)
    retry = {"max_attempts": 20, "base": "10ms", "jitter": 1, "factor": 1}
    for number in range(10):
        await works.create(name=f"s{number}", target=target(sink), overlap="allow", retry=retry)
        await works.trigger(f"s{number}", 50)
    await works.until_concluded(500, seconds=60)
    recorded = Counter((key, number, int(code or 200)) for key, number, _, code in await ledger(works))
    assert recorded == Counter(seen)
    assert Counter(key for key, _, status in seen if status == 200).total() == len(sink.keys()) == 500
