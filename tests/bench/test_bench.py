"""Each benchmark in small: that it comes to its end, says what it should, and leaves nothing behind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from detent.bench import bloat, burst, cron, drain, lag, plan
from detent.bench.figures import in_milliseconds, percentile
from tests.cli.run import detent


def test_percentiles_are_values_that_occurred():
    values = [float(n) for n in range(1, 101)]
    assert [percentile(values, p) for p in (0, 50, 99, 99.5, 100)] == [1, 50, 99, 100, 100]
    assert in_milliseconds([0.001]) == {"p50_ms": 1, "p95_ms": 1, "p99_ms": 1, "max_ms": 1}


@pytest.mark.parametrize("processes", [1, 2])
def test_drain(postgres, processes):
    told = drain.drain(postgres.postgres.url, n=500, processes=processes)
    assert told["firings"] == 500
    assert told["firings_per_s"] > 0
    assert 0 < told["ceiling_ratio"] < 1.5


def test_plan(postgres):
    told = plan.plan(postgres.postgres.url, n=600)
    assert told["firings_per_s"] > 0
    assert told["ceiling_ratio"] > 0


def test_lag(postgres):
    told = lag.lag(postgres.postgres.url, n=40)
    assert told["firings"] == 40
    assert told["early"] == 0
    assert told["p50_ms"] <= told["p95_ms"] <= told["p99_ms"] <= told["max_ms"]


def test_burst(postgres):
    told = burst.burst(postgres.postgres.url, n=300)
    assert told["firings"] == 300
    assert told["early"] == 0
    assert told["p50_s"] <= told["p99_s"] <= told["p100_s"]


def test_cron(postgres):
    told = cron.cron(postgres.postgres.url, n=50, period=2)
    assert told["schedules"] == 50
    assert told["firings"] == 100
    assert told["dropped"] == told["early"] == 0
    assert told["registered_per_s"] > 0
    assert told["rss_mb"] > 0
    assert told["p50_s"] <= told["p99_s"] <= told["p100_s"]


def test_bloat(postgres):
    told = bloat.bloat(postgres.postgres.url, n=512, seconds=1, runs=1)
    assert told["end_over_start"] > 0
    assert told["plan_end_over_start"] > 0
    assert told["dead_tuples"]["waiting"] > 0
    assert told["wal_bytes_per_firing"] > 0
    assert 0 < told["commits_per_firing"] < 1


def test_the_command_runs_on_an_embedded_server_and_leaves_nothing_behind(tmp_path):
    done = detent("bench", "drain", "--firings", "200", "--json", TMPDIR=str(_open(tmp_path)))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["firings"] == 200
    assert {"firings_per_s", "ceiling_ratio"} <= told.keys()
    assert not list(tmp_path.iterdir())


def test_databases_made_for_a_benchmark_are_dropped(postgres):
    drain.drain(postgres.postgres.url, n=50)
    left = postgres.run(
        postgres._admin.fetchval("select count(*) from pg_database where datname like 'detent_bench%'")
    )
    assert left == 0


def test_an_option_that_a_benchmark_does_not_have_is_refused():
    done = detent("bench", "lag", "--schedules", "3")
    assert done.returncode == 2
    assert "bench lag has no --schedules: it has --firings" in done.stderr


def _open(folder: Path) -> Path:
    """The embedded server may run as another user."""
    if str(folder).startswith(tempfile.gettempdir()):
        for parent in (folder, *folder.parents):
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(0o755)
    return folder
