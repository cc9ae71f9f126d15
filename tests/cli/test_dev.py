"""`detent dev`, for real: a person's first five minutes."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import asyncpg
import pytest

from tests.cli.run import ROOT, Running, detent
from tests.postgres import until
from tests.store.test_fixtures import gone

FIRED = r"^  \d\d:\d\d:\d\d\.\d{3}  greet-the-world .* succeeded in "


@pytest.fixture
def data():
    folder = Path(tempfile.mkdtemp(prefix="detent-dev-"))
    folder.chmod(0o755)
    yield folder / "data"
    subprocess.run(
        ["timeout", "20", "sh", "-c", f"while [ -e {folder}/data/pg/postmaster.pid ]; do sleep 0.05; done"],
        check=False,
    )
    shutil.rmtree(folder)


def postmaster(data: Path) -> int:
    return int((data / "pg" / "postmaster.pid").read_text().partition("\n")[0])


def shape(text: str) -> str:
    """What stays the same from run to run."""
    text = re.sub(r"\S*psql '\S*'", "psql", re.sub(r"data in \S*", "", text))
    text = re.sub(r"\.\d{3}\b", "", text)
    return re.sub(r"[ \d]+", " ", text).strip()


# R-RUN-1
def test_it_says_what_it_started_and_prints_firings_as_they_come(data):
    with Running("dev", "--data", str(data)) as dev:
        dev.until(FIRED)
        dev.until(r"report-ops .* failed after .*, tried again: ConnectionError: the warehouse is busy")
        dev.until(r"report-ops .* succeeded in ")
        head = dev.lines[: dev.lines.index("next firings")]
        assert head[0].startswith("Detent ")
        assert head[1].endswith(f"; data in {data}")
        assert head[2].startswith("  connect   ")
        assert "detent.example:app, an example" in head[3]
        coming = dev.lines[dev.lines.index("next firings") + 1 :][:3]
        assert sorted(line.split()[-1] for line in coming) == [
            "greet-the-world",
            "report-ops",
            "report-sales",
        ]

        second = detent("dev", "--data", str(data))
        assert second.returncode == 2
        assert second.stdout == ""
        assert second.stderr == (
            f"detent: Detent is already running on {data} (process {dev.process.pid}): stop it, or choose another"
            " folder by --data\n"
        )

        server = postmaster(data)
        dev.signal(signal.SIGINT)
        assert dev.ends() == 0
        assert dev.lines[-1] == "stopping: what runs may end; once more, and it is ended"
        assert not (data / "pg" / "postmaster.pid").exists()
        gone(data / "pg" / "postmaster.pid", server)
    assert shape(readme_output()) == shape("\n".join(dev.lines[: len(readme_output().splitlines())]))


def readme_output() -> str:
    """Of `make dev`, as the README shows it, up to the first firings, whose order differs from run to run."""
    block = re.search(
        r"```console\n\$ make dev\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert block is not None
    return block[1].partition("outcome\n")[0] + "outcome\n"


def test_the_readme_shows_the_app_that_runs():
    shown = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert shown is not None
    assert (ROOT / "detent" / "example.py").read_text("utf-8").endswith(shown[1])


def test_it_survives_its_postgresql(data):
    with Running("dev", "--data", str(data)) as dev:
        dev.until(FIRED)
        before = len(dev.lines)
        os.kill(postmaster(data), signal.SIGKILL)
        dev.until("database_died", after=before)
        dev.until("database_restarted", after=before)
        dev.until("store_back", after=before)
        dev.until(FIRED, after=len(dev.lines))
        dev.signal(signal.SIGTERM)
        assert dev.ends() == 0
    assert dev.text.count("store_lost") == dev.text.count("store_back") <= 2, (
        "it says so once, not for each loop"
    )
    assert "Traceback" not in dev.text


APP = """
import asyncio
from detent import Detent, every

app = Detent("stubborn")

@app.task(pool="slow")
async def for_ever() -> None:
    await asyncio.Event().wait()

app.schedule("for-ever", every("1s"), for_ever, overlap="allow")
"""


async def until_running(url: str) -> None:
    connection = await asyncpg.connect(url)
    await until(connection, "select count(*) from detent.running where node is not null")
    await connection.close()


def test_ctrl_c_waits_for_what_runs_and_twice_does_not(data, tmp_path):
    (tmp_path / "stubborn.py").write_text(APP)
    with Running("dev", "--data", str(data), "--app", "stubborn:app", "--grace", "1h", cwd=tmp_path) as dev:
        dev.until("running   .*pools default, slow")
        dev.until("outcome")
        server = postmaster(data)
        url = shlex.split(next(line for line in dev.lines if line.startswith("  connect")))[-1]
        asyncio.run(until_running(url))
        dev.signal(signal.SIGINT)
        dev.until("stopping")
        assert dev.process.poll() is None
        dev.signal(signal.SIGINT)
        assert dev.ends() == 128 + signal.SIGINT
        gone(data / "pg" / "postmaster.pid", server)


def test_a_database_that_is_given_is_used(database, data):
    with Running("dev", "--data", str(data), DETENT_DATABASE_URL=database) as dev:
        dev.until(FIRED)
        assert dev.lines[1].endswith("by DETENT_DATABASE_URL")
        dev.signal(signal.SIGINT)
        assert dev.ends() == 0
    assert not data.exists()
