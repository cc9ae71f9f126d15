"""The embedded PostgreSQL, for real: whatever ends a run, the next one begins cleanly."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import asyncpg
import pytest

from detent.store.binaries import EmbeddedError, find_binaries, version_of
from detent.store.embedded import EmbeddedPostgres, default_data
from tests.store.test_fixtures import gone

ROOT = os.geteuid() == 0
FAST = {"fsync": "off", "shared_buffers": "16MB"}

# Starts a server, perhaps as another user, says where it is, and serves until its input ends.
RUN = """
import json, os, sys
from pathlib import Path
from detent.store.embedded import EmbeddedPostgres
from detent.domain.errors import DetentError
import subprocess, ctypes, signal, pwd, shutil
data, user = sys.argv[1:]
if user:
    entry = pwd.getpwnam(user)
    os.setgroups([]); os.setgid(entry.pw_gid); os.setuid(entry.pw_uid)
server = EmbeddedPostgres(data=Path(data), settings={"fsync": "off", "shared_buffers": "16MB"})
try:
    server.start()
except DetentError as error:
    print(json.dumps({"error": error.message}), flush=True)
    sys.exit(1)
print(json.dumps({"pid": server.pid, "url": server.url, "owner": os.stat(f"/proc/{server.pid}").st_uid}), flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture
def data():
    folder = Path(tempfile.mkdtemp(prefix="detent-test-"))
    folder.chmod(0o755)
    yield folder / "data"
    shutil.rmtree(folder)


@pytest.fixture
def serve(data):
    """Servers on `data`, stopped after the test."""
    made = []

    def start(at: Path = data, **settings: str) -> EmbeddedPostgres:
        server = EmbeddedPostgres(data=at, settings=FAST | settings)
        server.start()
        made.append(server)
        return server

    yield start
    for server in made:
        server.stop()


class Run:
    """Detent in a process of its own."""

    def __init__(self, data: Path, user: str = "", **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(data), user],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment}, text=True,
        )  # fmt: skip
        self.said = json.loads(self.process.stdout.readline())

    def end(self) -> int:
        self.process.communicate()
        return self.process.returncode

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def sql(url: str, text: str) -> object:
    async def ask() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(text)
        finally:
            await connection.close()

    return asyncio.run(ask())


def test_what_was_committed_is_there_after_a_stop(serve, data):
    server = serve()
    sql(server.url, "create table kept as select 1 as one")
    server.stop()
    assert not server.alive
    assert sql(serve().url, "select one from kept") == 1


def test_a_second_start_on_the_same_data_says_so(serve, data):
    serve()
    with pytest.raises(
        EmbeddedError, match=rf"already running on {data} \(process {os.getpid()}\): stop it, or choose"
    ):
        EmbeddedPostgres(data=data).start()


def test_a_killed_detent_takes_its_server_along_and_starts_again(serve, data):
    run = Run(data)
    sql(run.said["url"], "create table kept as select 1 as one")
    run.kill()
    assert sql(serve().url, "select one from kept") == 1
    gone(data / "no such file", run.said["pid"])


def test_a_server_that_outlived_its_detent_is_stopped_by_the_next(serve, data):
    """As on systems where the kernel doesn't tie a process to its parent."""
    server = serve()
    orphan = server.pid
    server._lock.close()
    server._lock = None
    following = serve()
    assert following.pid != orphan
    assert server._process.wait(10) == 0


def test_a_server_killed_while_sessions_work_is_restarted(serve, data):
    server = serve()
    sql(server.url, "create table kept as select 1 as one")
    client = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, server.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert client.stdout.readline() == "connected\n"
    server.kill()
    assert not server.alive
    server.restart()
    client.communicate(timeout=10)
    assert sql(server.url, "select one from kept") == 1


SLEEPER = """
import asyncio, asyncpg, sys
async def main():
    connection = await asyncpg.connect(sys.argv[1])
    print("connected", flush=True)
    await connection.execute("select sum(i * i % 7) from generate_series(1, 3000000) i")
asyncio.run(main())
"""


def test_a_number_that_another_process_has_by_now_stops_nobody(serve, data):
    server = serve()
    server.kill()
    pid_file = data / "pg" / "postmaster.pid"
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, **as_server_owner())
    try:
        pid_file.write_text(f"{other.pid}\n" + pid_file.read_text().partition("\n")[2])
        server.restart()
        assert sql(server.url, "select 1") == 1
        assert other.poll() is None
    finally:
        other.communicate()


def as_server_owner() -> dict[str, int]:
    return {"user": pwd.getpwnam("postgres").pw_uid} if ROOT and has_user("postgres") else {}


def has_user(name: str) -> bool:
    return any(entry.pw_name == name for entry in pwd.getpwall())


def test_a_first_start_that_was_cut_off_is_begun_anew(serve, data):
    (data / "pg.unfinished" / "base").mkdir(parents=True)
    (data / "pg.unfinished" / "PG_VERSION").write_text("18\n")
    if ROOT:
        data.chmod(0o755)
    assert sql(serve().url, "select 1") == 1
    assert not (data / "pg.unfinished").exists()


def test_a_start_that_fails_gives_the_folder_back_and_shows_the_servers_words(serve, data):
    with pytest.raises(EmbeddedError, match=r"did not start in .*(?s:.)*shared_buffers"):
        serve(shared_buffers="nonsense")
    assert sql(serve().url, "select 1") == 1


def test_a_long_path_gets_a_short_socket(serve, data):
    server = serve(data / ("long" * 30))
    assert sql(server.url, "select 1") == 1
    assert len(str(server.socket)) < 90
    assert server.socket.stat().st_mode & 0o777 == 0o700
    server.stop()
    server.socket.rmdir()


def test_a_path_with_unusual_characters(serve, data):
    server = serve(data / "with space, comma & 'ü'?")
    assert sql(server.url, "select 1") == 1
    server.stop()
    server.socket.rmdir()


def test_a_long_folder_for_what_is_temporary_does_not_make_the_socket_long(data, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/tmp/" + "t" * 80)
    server = EmbeddedPostgres(data=data / ("d" * 90))
    assert server.socket.parent == Path("/tmp")


def test_a_socket_folder_that_somebody_else_made_is_refused(data):
    if not ROOT:
        pytest.skip("needs root, to be two users")
    server = EmbeddedPostgres(data=data / ("long" * 30), settings=FAST)
    server.socket.mkdir()
    os.chown(server.socket, 12345, 12345)
    try:
        with pytest.raises(EmbeddedError, match="belongs to somebody else"):
            server.start()
    finally:
        server.socket.rmdir()


def test_another_version_is_refused(serve, data):
    serve().stop()
    (data / "pg" / "PG_VERSION").write_text("13\n")
    with pytest.raises(
        EmbeddedError, match=r"was made by PostgreSQL 13, but .* is \d+: point DETENT_PG_BIN at the older"
    ):
        serve()


def test_a_wrong_folder_of_binaries_is_named(serve, data, monkeypatch):
    monkeypatch.setenv("DETENT_PG_BIN", str(data))
    with pytest.raises(EmbeddedError, match=f"DETENT_PG_BIN is {data}, but there is no `postgres` in it"):
        serve()


def test_binaries_of_ones_own_choice_are_taken(serve, data, monkeypatch):
    monkeypatch.setenv("DETENT_PG_BIN", str(find_binaries()))
    version = version_of(find_binaries())
    assert sql(serve().url, "show server_version").startswith(version)


def test_nobody_else_can_enter(serve, data):
    server = serve()
    assert server.socket.stat().st_mode & 0o777 == 0o700
    assert server.log.stat().st_mode & 0o077 == 0
    assert sql(server.url, "show listen_addresses") == ""


def test_a_closed_umask_does_not_shut_the_server_out(serve, data):
    before = os.umask(0o077)
    try:
        assert sql(serve(data / "deep" / "er").url, "select 1") == 1
    finally:
        os.umask(before)


@pytest.mark.skipif(not ROOT, reason="needs root, to become somebody else")
@pytest.mark.parametrize("user", ["nobody"])
def test_a_normal_user_runs_it_as_himself_in_a_closed_home(data, user):
    home = data.parent / "home"
    home.mkdir(mode=0o700)
    os.chown(home, pwd.getpwnam(user).pw_uid, -1)
    run = Run(home / "detent", user, HOME=str(home))
    assert run.said["owner"] == pwd.getpwnam(user).pw_uid
    assert run.end() == 0
    again = Run(home / "detent", user, HOME=str(home))
    again.kill()
    gone(home / "detent" / "pg" / "postmaster.pid", again.said["pid"])
    assert (home / "detent").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not ROOT, reason="needs root, who must not run it himself")
def test_root_runs_it_as_somebody_else(data):
    run = Run(data)
    assert run.said["owner"] != 0
    assert run.end() == 0


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_root_is_told_that_a_closed_folder_is_closed(serve, data):
    closed = data.parent / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(
        EmbeddedError, match=r"who can't enter .*/closed/data: choose a folder outside closed homes"
    ):
        serve(closed / "data")


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_binaries_in_a_closed_home_are_copied(serve, data, monkeypatch):
    found = find_binaries()
    if str(found).startswith("/usr/"):
        pytest.skip("what the system has installed lies in no home")
    package, libraries = found.parent.parent, found.parent.parent.with_suffix(".libs")
    home = data.parent / "home"
    home.mkdir(mode=0o700)
    shutil.copytree(found.parent, home / package.name / found.parent.name, symlinks=True)
    if libraries.exists():
        shutil.copytree(libraries, home / libraries.name)
    monkeypatch.setenv("DETENT_PG_BIN", str(home / package.name / found.parent.name / found.name))
    assert sql(serve().url, "select 1") == 1
    assert list(data.glob("postgres-*/complete"))


def test_where_the_data_lies_by_itself(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert default_data() == Path("/somewhere/detent")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data() == Path("/var/lib/detent")


def test_a_stop_by_hand_is_a_clean_stop(serve):
    server = serve()
    process = server._process
    server.stop()
    assert process.returncode == 0
    server.stop()  # twice is once
