"""The comparison with peers, with a peer that needs no fetching."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.peers import peer as measuring
from bench.peers.contenders import CONTENDERS, Contender
from bench.peers.peer import Peer
from bench.peers.program import Program
from bench.peers.table import MEASURES, Row, markdown
from detent.bench.crew import BenchError
from detent.bench.place import durable_postgres

ROOT = Path(__file__).parents[2]
TINY = Program(lambda: ([sys.executable, "-m", "tests.bench.tiny_queue"], ROOT))


def tiny(**options) -> Peer:
    return Peer(program=TINY, options=options, left="select exists (select from job)")


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(measuring, "_IDLE_SECONDS", 0.0)
    monkeypatch.setattr(measuring, "_LEAST_NOTICE_SECONDS", 1)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_backlog_is_drained_and_leaves_nothing_behind(postgres, processes):
    told = tiny().drain(postgres.postgres.url, n=300, processes=processes)
    assert told["firings"] == 300
    assert told["firings_per_s"] > 0
    left = postgres.run(
        postgres._admin.fetchval("select count(*) from pg_database where datname like 'detent_bench%'")
    )
    assert left == 0


def test_lags_are_those_of_jobs_at_their_own_instants(postgres, hurried):
    told = tiny().lag(postgres.postgres.url, n=40, rate=200)
    assert told["firings"] == 40
    assert told["early"] == 0
    assert told["p50_ms"] <= told["p99_ms"] <= told["max_ms"]


def test_schedules_are_counted_at_two_boundaries(postgres, hurried):
    told = tiny().cron(postgres.postgres.url, n=5, period=1)
    assert told["firings"] == 10
    assert told["dropped"] == told["early"] == 0


def test_a_worker_that_ends_is_told_with_its_last_words(postgres):
    with pytest.raises(BenchError, match="a worker ended: no more"):
        tiny(gives_up=True).drain(postgres.postgres.url, n=10, processes=1)


def test_the_table_shows_medians_gaps_drops_and_failures():
    row = Row(Contender(key="tiny", name="Tiny", keeps="nothing", runs={}))
    row.results["drain"] += [{"firings_per_s": rate} for rate in (70_000, 71_234, 90_000)]
    row.results["cron"] += [{"p50_s": 1.0, "p99_s": 2.345, "dropped": 7}]
    row.failures["burst"] = "it fell"
    assert markdown([row], {"drain": 50_000, "lag": 4_000, "burst": 20_000, "cron": 1_000}).splitlines()[
        2:
    ] == [
        "| Tiny | 71,200 |  | failed | 1.00 / 2.35, 7 dropped | nothing |",
        "",
        "- Tiny, burst: it fell",
    ]
    assert row.as_json()["drain"]["firings_per_s"] == 71_234


def test_each_contender_says_what_it_keeps_and_is_measured_by_known_measures():
    assert all(one.keeps and set(one.runs) <= set(MEASURES) for one in CONTENDERS)
    assert len({one.key for one in CONTENDERS}) == len(CONTENDERS)


def test_what_is_durable_lies_on_a_disk_though_temporary_files_may_not(monkeypatch, tmp_path):
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with durable_postgres() as server:
        assert server.data.parent == Path("/var/tmp")
    assert not server.data.exists()
