"""A real pgbouncer in transaction mode, in front of a server of the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from detent.store.binaries import server_owner
from detent.store.embedded import EmbeddedPostgres
from tests.cli.run import ROOT

USERS = ("postgres", "detent_api", "detent_planner", "detent_worker", "detent_migrations")
_TOOLS = ROOT / ".tools"
_SERVERS = 6
"""Connections to the server a user: far fewer than its processes open to the pooler."""
_CONFIGURATION = """
[databases]
* = host={socket} port=5432
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = {servers}
max_client_conn = 300
logfile = {log}
log_connections = 0
log_disconnections = 0
"""


class Pooler:
    def __init__(self, port: int) -> None:
        self._port = port

    def url(self, database_url: str, user: str) -> str:
        """The same database, through the pooler, as that user."""
        database = database_url.partition("?")[0].rpartition("/")[2]
        return f"postgresql://{user}@127.0.0.1:{self._port}/{database}?sslmode=disable"


@contextmanager
def pooler(server: EmbeddedPostgres, folder: Path) -> Iterator[Pooler]:
    program = _program()
    owner, port = server_owner(), _free_port()
    (folder / "users").write_text("".join(f'"{user}" ""\n' for user in USERS))
    (folder / "pgbouncer.ini").write_text(
        _CONFIGURATION.format(
            socket=server.socket, port=port, users=folder / "users", servers=_SERVERS, log=folder / "log"
        )
    )
    for path in (folder, *folder.iterdir()):
        path.chmod(0o777)
    as_owner = [] if owner is None else ["-u", owner.pw_name]
    libraries = ":".join(str(path) for path in (_TOOLS / "usr" / "lib").glob("*-linux-gnu"))
    process = subprocess.Popen(
        [program, "-q", *as_owner, folder / "pgbouncer.ini"],
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    try:
        _until_it_listens(port, process)
        yield Pooler(port)
    finally:
        process.kill()
        process.wait()


def _program() -> str:
    found = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin:{_TOOLS / 'usr' / 'sbin'}")
    if found is None:
        missing = (
            "pgbouncer is missing: nothing behind a pooler is tested. Run tools/pgbouncer.sh, or install it"
        )
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def _until_it_listens(port: int, process: subprocess.Popen[bytes]) -> None:
    script = f"until : 2> /dev/null < /dev/tcp/127.0.0.1/{port}; do sleep 0.02; done"
    subprocess.run(["timeout", "10", "bash", "-c", script], check=True, stderr=subprocess.DEVNULL)
    assert process.poll() is None, "pgbouncer ended at once"
