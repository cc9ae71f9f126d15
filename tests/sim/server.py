"""The database of the simulation: a real one, whose sessions take turns.

One statement is carried out at a time. One that has to wait for a lock is stopped, backend and all (SIGSTOP), until the
lock is granted and its turn has come: so two that were waiting for the same transaction go on one after the other, in
an order that the seed decides. A backend stops while it sleeps in the queue of a lock, where it holds nothing that
others need.

Sessions without a transaction need no backend: few are enough for all, and they serve one seed after the other.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

import asyncpg

from tests.sim.wire import Call, Session, State

T = TypeVar("T")
_LOOK_SECONDS = 0.0015
_SESSION = {
    "application_name": "sim",
    "jit": "off",
    "timezone": "UTC",
    "lock_timeout": "0",
    "statement_timeout": "0",
    "deadlock_timeout": "1h",
    "idle_in_transaction_session_timeout": "0",
}
_BLOCKING = "select pid, pg_blocking_pids(pid) from unnest($1::int[]) pid"


class Backend:
    def __init__(self, connection: asyncpg.Connection) -> None:
        self.connection = connection
        self.pid = connection.get_server_pid()
        self.now: datetime | None = None
        self.paused = False


class Wires(asyncio.SelectorEventLoop):
    """The loop of the real connections: it runs as long as somebody waits for an answer, and not a moment longer."""

    def until_done(self, work: asyncio.Task[T], seconds: float | None = None) -> bool:
        """Whether it is, after at most so long."""
        late: list[bool] = []
        timer = None if seconds is None else self.call_later(seconds, late.append, True)
        asyncio._set_running_loop(self)
        try:
            while not work.done() and not late:
                self._run_once()
        finally:
            asyncio._set_running_loop(None)
            if timer is not None:
                timer.cancel()
        return work.done()


class Server:
    def __init__(self, url: str) -> None:
        self._url = url
        self._wires = Wires()
        self._backends: list[Backend] = []
        self._free: list[Backend] = []
        self.watcher: asyncpg.Connection = self.ask(self._connect())
        """A session that only looks, and sets the scene. Its clock is its own."""
        self.blocked: list[Call] = []
        self.instead: dict[str, str] = {}
        """Statements that are carried out instead of others."""

    def ask(self, work: Coroutine[Any, Any, T]) -> T:
        task = self._wires.create_task(work)
        self._wires.until_done(task)
        return task.result()

    def carry_out(self, call: Call, now: datetime) -> None:
        """Until it is answered, or blocked."""
        session = call.session
        if session.backend is None:
            session.backend = self._take()
        backend = session.backend
        self._prepare(session, call, now)
        call.task = self._wires.create_task(
            getattr(backend.connection, call.method)(self.instead.get(call.sql, call.sql), *call.arguments)
        )
        self._wait(backend, call)

    def go_on(self, call: Call) -> None:
        """With a lock that was granted."""
        self.blocked.remove(call)
        self._resume(call.session.backend)
        self._wait(call.session.backend, call)

    def cancel(self, call: Call, error: BaseException) -> None:
        """Ends a blocked call; it fails with this."""
        self.blocked.remove(call)
        backend = call.session.backend
        self.ask(self.watcher.execute("select pg_cancel_backend($1)", backend.pid))
        self._resume(backend)
        assert call.task is not None
        self._wires.until_done(call.task)
        call.task.exception()
        call.error = error
        self._answered(call)

    def end(self, session: Session) -> None:
        """Nobody uses it any more: what it has not committed is undone."""
        if session.call in self.blocked:
            self.cancel(session.call, asyncpg.ConnectionDoesNotExistError("the session was ended"))
        if session.backend is not None:
            self.ask(session.backend.connection.execute("rollback"))
            session.backend.now = None
            self._let_go(session)

    def look_at_locks(self) -> list[Call]:
        """Blocked calls that are so no more: their lock was granted, or they waited for one another, and the youngest
        of those has failed."""
        freed: list[Call] = []
        while self.blocked:
            pids = [call.session.backend.pid for call in self.blocked]
            waits = dict(self.ask(self.watcher.fetch(_BLOCKING, pids)))
            for call in self.blocked:
                if call.state is State.BLOCKED and not waits[call.session.backend.pid]:
                    call.state = State.GRANTED
                    freed.append(call)
            circle = [call for call in self.blocked if _reaches(waits, call.session.backend.pid)]
            if not circle:
                break
            self.cancel(circle[-1], asyncpg.DeadlockDetectedError("deadlock detected"))
            freed.append(circle[-1])
        return freed

    def set_watchers_clock(self, now: datetime) -> None:
        self.ask(self.watcher.execute(f"select set_config('detent.now', '{now.isoformat()}', false)"))

    def rest(self) -> None:
        """Between two seeds."""
        for call in list(self.blocked):
            self.cancel(call, asyncpg.QueryCanceledError("the end"))
        for backend in self._backends:
            if backend not in self._free:
                self.ask(backend.connection.execute("rollback"))
            backend.now = None
        self._free = self._backends[::-1]

    def close(self) -> None:
        self.rest()
        for backend in self._backends:
            backend.connection.terminate()
        self.watcher.terminate()
        self.ask(asyncio.sleep(0))
        self._wires.close()

    async def _connect(self) -> asyncpg.Connection:
        return await asyncpg.connect(self._url, server_settings=_SESSION)

    def _take(self) -> Backend:
        if not self._free:
            self._free.append(Backend(self.ask(self._connect())))
            self._backends += self._free
        return self._free.pop()

    def _prepare(self, session: Session, call: Call, now: datetime) -> None:
        """The call's transaction, and its time."""
        before = ["begin"] if session.begins else []
        if session.backend.now != now and call.name not in ("commit", "rollback"):
            before.append(f"select set_config('detent.now', '{now.isoformat()}', false)")
        if before:
            with suppress(asyncpg.InFailedSQLTransactionError):  # the call itself will say so
                self.ask(session.backend.connection.execute(";".join(before)))
                session.backend.now = now
        if session.begins:
            session.begins, session.in_transaction = False, True

    def _wait(self, backend: Backend, call: Call) -> None:
        assert call.task is not None
        while not self._wires.until_done(call.task, _LOOK_SECONDS):
            if self.ask(self.watcher.fetch(_BLOCKING, [backend.pid]))[0][1]:
                os.kill(backend.pid, signal.SIGSTOP)
                backend.paused = True
                call.state = State.BLOCKED
                self.blocked.append(call)
                return
        call.error = call.task.exception()
        call.result = None if call.error else call.task.result()
        self._answered(call)

    def _answered(self, call: Call) -> None:
        call.state, call.task = State.ANSWERED, None
        session = call.session
        if call.name in ("commit", "rollback") or not session.in_transaction:
            if call.name == "rollback" or call.result == "ROLLBACK":
                session.backend.now = None  # what was set inside is undone with it
            self._let_go(session)
        elif call.name == "rollback to":
            session.backend.now = None

    def _let_go(self, session: Session) -> None:
        session.in_transaction = False
        self._free.append(session.backend)
        session.backend = None

    def _resume(self, backend: Backend) -> None:
        if backend.paused:
            backend.paused = False
            os.kill(backend.pid, signal.SIGCONT)


def _reaches(waits: dict[int, list[int]], start: int) -> bool:
    """Whether a session waits, through others, for itself."""
    seen: set[int] = set()
    ahead = list(waits[start])
    while ahead:
        pid = ahead.pop()
        if pid == start:
            return True
        if pid not in seen:
            seen.add(pid)
            ahead += waits.get(pid, ())
    return False
