"""The wire: what lies between processes and the database. Each call of a session is a step that the director takes.

A call is *asked*, then carried out by the server (it may be *blocked* there by a lock, and later *granted* it), then
*answered*, and at last its answer is delivered. Anything may happen in between: others go on, the process dies, the
answer is lost, the client gives up and the call is carried out all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import asyncpg

from detent.store.statements import statement, statement_names
from tests.sim.pace import DEADLINE
from tests.sim.process import Process

_NAMES = {statement(name): name for name in statement_names()}


class State(Enum):
    ASKED = "asked"
    BLOCKED = "blocked"
    GRANTED = "granted"
    ANSWERED = "answered"
    OVER = "over"


class Session:
    """The server's side of a connection."""

    def __init__(self, number: int, process: Process) -> None:
        self.number = number
        self.process = process
        self.call: Call | None = None
        self.backend: Any = None
        """What carries out its calls; kept while a transaction is open."""
        self.in_transaction = False
        self.left = False
        """The client has gone: nobody waits for answers."""
        self.lost = False
        """The server has ended it."""
        self.idle_since = 0.0
        self.begins = False
        """A transaction is to be opened before the next call."""
        self.changes = False
        """It has done more than to look."""
        self.notices: list[str] = []
        """Told when its transaction commits."""
        self.hears: list[Callable[..., None]] = []
        self.mourns: list[Callable[..., None]] = []

    def __str__(self) -> str:
        return f"{self.process.name}#{self.number}"


class Call:
    """One call, from its being asked to the delivery of its answer."""

    def __init__(self, session: Session, method: str, sql: str, arguments: Sequence[Any]) -> None:
        self.session = session
        self.method = method
        self.sql = sql
        self.arguments = arguments
        self.name = _NAMES.get(sql) or _first_words(sql)
        self.state = State.ASKED
        self.ready_at = 0.0
        """When it arrives, or its answer does."""
        self.delay = 0.0
        """Its answer takes at least so long."""
        self.travels = False
        """The client knows that it is cut off from it."""
        self.blocked_at = 0.0
        self.answer: asyncio.Future[Any] = session.process.create_future()
        self.result: Any = None
        self.error: BaseException | None = None
        self.task: asyncio.Task[Any] | None = None
        """The real call, while it is blocked."""

    def __str__(self) -> str:
        return f"{self.session} {self.name}"


class Connection:
    """What detent.store sees: the part of asyncpg's connection that it uses."""

    def __init__(self, wire: Wire, session: Session) -> None:
        self._wire = wire
        self._session = session
        self._closed = False
        self._depth = 0

    async def fetch(self, sql: str, *arguments: Any) -> Any:
        return await self._ask("fetch", sql, arguments)

    async def fetchrow(self, sql: str, *arguments: Any) -> Any:
        return await self._ask("fetchrow", sql, arguments)

    async def fetchval(self, sql: str, *arguments: Any) -> Any:
        return await self._ask("fetchval", sql, arguments)

    async def execute(self, sql: str, *arguments: Any) -> Any:
        return await self._ask("execute", sql, arguments)

    def transaction(self) -> _Transaction:
        return _Transaction(self)

    def is_in_transaction(self) -> bool:
        return self._session.in_transaction or self._session.begins

    def is_closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        self.terminate()

    def terminate(self) -> None:
        if not self._closed:
            self._closed = True
            self._wire.leave(self._session)

    async def add_listener(self, _: str, hear: Callable[..., None]) -> None:
        await self._ask("execute", "select 'listen'", ())
        self._session.hears.append(hear)

    def add_termination_listener(self, hear: Callable[..., None]) -> None:
        self._session.mourns.append(hear)

    async def _ask(self, method: str, sql: str, arguments: Sequence[Any]) -> Any:
        """A call that is not answered in time, or given up, takes its connection with it."""
        process = self._session.process
        if process.dead:
            raise asyncio.CancelledError
        if self._closed:
            raise asyncpg.InterfaceError("the connection is closed")
        call = self._wire.ask(self._session, method, sql, arguments)
        timer = process.call_later(DEADLINE, _expire, call)
        try:
            return await call.answer
        except (OSError, asyncio.CancelledError, TimeoutError, asyncpg.PostgresConnectionError):
            self.terminate()
            raise
        finally:
            timer.cancel()


def _first_words(sql: str) -> str:
    return "rollback to" if sql.startswith("rollback to") else sql.partition(" ")[0]


def _expire(call: Call) -> None:
    if not call.answer.done():
        call.answer.set_exception(TimeoutError())


class _Transaction:
    """Nested ones are savepoints, as asyncpg has it. The outermost one is opened with its first call."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._name = ""

    async def start(self) -> None:
        depth = self._connection._depth
        self._connection._depth += 1
        if depth:
            self._name = f"level_{depth}"
            await self._connection.execute(f"savepoint {self._name}")
        else:
            self._connection._session.begins = True

    async def commit(self) -> None:
        await self._end(f"release savepoint {self._name}" if self._name else "commit")

    async def rollback(self) -> None:
        await self._end(f"rollback to savepoint {self._name}" if self._name else "rollback")

    async def _end(self, how: str) -> None:
        self._connection._depth -= 1
        session = self._connection._session
        if session.begins:
            session.begins = False  # nothing was asked in it
        else:
            await self._connection.execute(how)

    async def __aenter__(self) -> None:
        await self.start()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await (self.commit() if kind is None else self.rollback())


class Pool:
    """At most so many connections, made as they are needed, kept while they are well."""

    def __init__(self, process: Process, size: int) -> None:
        self._process = process
        self._places = asyncio.Semaphore(size)
        self._idle: list[Connection] = []

    def acquire(self) -> _Acquired:
        return _Acquired(self)

    async def close(self) -> None:
        self.terminate()

    def terminate(self) -> None:
        for connection in self._idle:
            connection.terminate()
        self._idle.clear()

    async def take(self) -> Connection:
        await self._places.acquire()
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return self._process.connect()

    def give(self, connection: Connection) -> None:
        if not connection.is_closed():
            self._idle.append(connection)
        self._places.release()


class _Acquired:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Connection:
        self._connection = await self._pool.take()
        return self._connection

    async def __aexit__(self, *_: object) -> None:
        self._pool.give(self._connection)


class Wire:
    """All calls that are not over, and all sessions."""

    def __init__(self, arrival: Callable[[Call], float]) -> None:
        """`arrival`: when a call that is asked now reaches the server."""
        self.calls: list[Call] = []
        self.sessions: list[Session] = []
        self.leaving: list[Session] = []
        """Their clients have closed them, and nobody has looked yet."""
        self._arrival = arrival
        self._numbers = 0

    def connect(self, process: Process) -> Connection:
        self._numbers += 1
        session = Session(self._numbers, process)
        self.sessions.append(session)
        return Connection(self, session)

    def ask(self, session: Session, method: str, sql: str, arguments: Sequence[Any]) -> Call:
        assert session.call is None, f"{session.call} is under way in this session"
        call = session.call = Call(session, method, sql, arguments)
        call.ready_at = self._arrival(call)
        self.calls.append(call)
        return call

    def leave(self, session: Session) -> None:
        self.leaving.append(session)

    def over(self, call: Call) -> None:
        call.state = State.OVER
        call.session.call = None
        self.calls.remove(call)
