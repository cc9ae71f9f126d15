"""The fixtures that the other tests stand on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.postgres import set_now


async def test_a_database_is_migrated_and_has_partitions(connection):
    assert await connection.fetchval("select count(*) from detent.shard") == 256
    await connection.execute(
        "insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)"
        " values (1, detent.now(), detent.now(), 'slot', 1, 1)"
    )


async def test_databases_are_fresh(connection):
    assert await connection.fetchval("select count(*) from detent.firing") == 0


async def test_a_session_is_where_the_test_puts_it_in_time(connect):
    past, present = await connect(at="2026-03-01T00:00Z"), await connect()
    assert await past.fetchval("select detent.now() = '2026-03-01Z' and detent.clock() = '2026-03-01Z'")
    assert await present.fetchval("select detent.now() = statement_timestamp()")
    await set_now(past, None)
    assert await past.fetchval("select detent.now() = statement_timestamp()")


def test_a_test_without_a_loop_has_databases_too(database, empty_database):
    assert database != empty_database


def test_a_killed_run_leaves_nothing_behind():
    script = (
        "from detent.store.temporary import temporary_postgres\n"
        "with temporary_postgres({'fsync': 'off'}) as server:\n"
        "    print(server.data, server.pid, flush=True)\n"
        "    input()\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    data, pid = run.stdout.readline().split()
    assert (Path(data) / "pg" / "postmaster.pid").exists()
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdin.close()
    run.stdout.close()
    gone(Path(data), int(pid))


def gone(data: Path, pid: int) -> None:
    """Within ten seconds; pidfd and pipes can't be had of processes that are no children of ours."""
    watch = [
        "timeout",
        "10",
        "sh",
        "-c",
        f"while [ -e {data} ] || kill -0 {pid} 2> /dev/null; do sleep 0.05; done",
    ]
    assert subprocess.run(watch, check=False).returncode == 0, f"left: {data}, process {pid}"
