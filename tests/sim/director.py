"""The director: decides, from the seed alone, who takes the next step.

There is one true time, which stands still while anybody has something to do. A step is one call to the database, or the
delivery of its answer; then the process that asked goes on until it waits again. Calls take their time on the way, so
the ticks of all nodes overlap; which of those that are ready comes next is drawn. Time moves on when nobody is ready.

The database has a clock of its own (`now`), which may be set; so has each process.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from random import Random

import asyncpg

from tests.sim.pace import IDLE_IN_TRANSACTION_TIMEOUT, LEASE, LOCK_TIMEOUT, LONGEST_DELAY
from tests.sim.process import Process
from tests.sim.server import Server
from tests.sim.wire import Call, Session, State, Wire

_GRAIN = 0.02
"""Delays are whole multiples of it: what happens at the same moment happens in any order."""
_QUIET = {
    "savepoint", "ahead", "cancels", "catch_up_cursors", "clock", "due_timers", "ensure_partitions", "expired_node",
    "give_shards", "hold_shard", "in_flight", "insert_schedule", "lanes", "last_waiting", "leave", "live_planners",
    "lock_caps", "lock_schedule", "lock_timer", "move_catch_up", "notify", "now", "omit", "omit_many", "overdue_pauses",
    "own_facts", "pause_wishes", "pool_limits", "record_stale", "register_node", "renew_lease", "revise",
    "running_of_node", "set_status", "set_timer", "shard_map", "still_running", "take_shards", "tenant", "tried",
}  # fmt: skip
"""Calls that move no firing: there is nothing to look at after them. Nor is there after those that found nothing to do."""


@dataclass(kw_only=True)
class Weather:
    """How the wire is at the moment: the seed sets it, and the end of all faults changes it."""

    latency: float = 0.0
    """Seconds that a call or an answer takes on its way, on the average."""
    stall: float = 0.0
    """The probability that it takes a hundred times as long."""
    lost_request: float = 0.0
    lost_answer: float = 0.0
    late_request: float = 0.0
    """The client sees its connection break; the call arrives later all the same."""
    lost_notice: float = 0.0
    slow: tuple[str, ...] = ()
    """Calls of these names are slow to come and slow to be answered, every other time."""

    def calm(self) -> None:
        self.stall = self.lost_request = self.lost_answer = self.late_request = 0.0
        self.slow = ()


class Director:
    def __init__(
        self, server: Server, random: Random, weather: Weather, begin: datetime, report: Callable[[str], None]
    ) -> None:
        self.server = server
        self.random = random
        self.weather = weather
        self.wire = Wire(self._arrival)
        self.processes: list[Process] = []
        self.elapsed = 0.0
        self.steps = 0
        self.trace: list[str] = []
        self.look: Callable[[], None] = lambda: None
        """After each step."""
        self.changed = True
        """Something may have been committed since somebody looked."""
        self.on_call: list[Callable[[Call], None]] = []
        """Before a call is carried out, and after it: see its state."""
        self._begin = begin
        self._set_forward = timedelta()
        self._latest = begin
        self._set_back: list[tuple[float, float]] = []
        self._report = report
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    @property
    def now(self) -> datetime:
        """What the database's clock shows."""
        now = self._begin + timedelta(microseconds=round(self.elapsed * 1e6)) + self._set_forward
        self._latest = max(now, self._latest)
        return now

    @property
    def latest(self) -> datetime:
        """The latest that the database's clock has shown, or would, if it hadn't been set back a moment ago: who learned
        the time before that doesn't know it yet, and who is cut off learns it when his lease has run out."""
        unknown = sum(by for at, by in self._set_back if at > self.elapsed - LEASE)
        return max(self._latest, self.now + timedelta(seconds=unknown))

    def set_clock(self, by: float) -> None:
        self._set_forward += timedelta(seconds=by)
        if by < 0:
            self._set_back.append((self.elapsed, -by))
        self.note(f"the database's clock is set by {by:+.1f} s")

    def note(self, text: str) -> None:
        self.trace.append(f"{self.elapsed:9.4f} {text}")

    def at(self, moment: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._events, (max(moment, self.elapsed), next(self._order), what))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        self.at(self.elapsed + seconds, what)

    def run(self, until: float) -> None:
        """All that happens until then."""
        while True:
            now = self.elapsed
            ready = [call for call in self.wire.calls if call.ready_at <= now and self._may_go(call)]
            if ready:
                self._step(self.random.choice(ready))
            elif not self._pass_time(until):
                return

    # Processes

    def process(self, name: str) -> Process:
        offset = self.random.uniform(0, 1e5)
        made = Process(name, lambda: self.elapsed, offset, self.wire.connect, self._report)
        self.processes.append(made)
        return made

    def go(self, process: Process) -> None:
        """It goes on until it waits."""
        process.run_ready()
        self._sessions_left()

    def kill(self, process: Process) -> None:
        """What it asked for may still arrive, and what it left open stays open until the server notices."""
        self.processes.remove(process)
        process.kill()
        for session in [s for s in self.wire.sessions if s.process is process]:
            self.wire.leave(session)
        self._sessions_left()

    def disconnect(self, session: Session) -> None:
        """The server ends the session."""
        if session.lost:
            return
        session.lost = True
        self.server.end(session)
        self._look_at_locks()
        for mourn in session.mourns:
            session.process.call_soon(mourn, None)

    def disconnect_all(self) -> None:
        self.note("the database restarts")
        for session in list(self.wire.sessions):
            self.disconnect(session)

    # Steps

    def _may_go(self, call: Call) -> bool:
        if call.state is State.BLOCKED:
            return False
        process = call.session.process
        if call.session.left or call.state is State.GRANTED:
            return True
        return not process.cut and (call.state is State.ASKED or not process.stopped)

    def _step(self, call: Call) -> None:
        self.steps += 1
        match call.state:
            case State.ASKED:
                self._arrives(call)
            case State.GRANTED:
                self.server.go_on(call)
                self._carried_out(call)
            case State.ANSWERED:
                self._deliver(call)
        self.look()

    def _arrives(self, call: Call) -> None:
        session, drawn = call.session, self.random.random()
        for meddle in self.on_call:
            meddle(call)
            if call.state is State.OVER or call.ready_at > self.elapsed:
                return
        if session.lost:
            self._fail(call, "the server had ended the session")
        elif not session.left and drawn < self.weather.lost_request:
            self.disconnect(session)
            self._fail(call, "the request was lost")
        elif not session.left and drawn < self.weather.lost_request + self.weather.late_request:
            self.note(f"{call}: breaks, and arrives later")
            call.ready_at = self.elapsed + self.random.uniform(0, 1.5 * LEASE)
            call.travels = True
            call.answer.set_exception(asyncpg.ConnectionDoesNotExistError("cut off"))
            if not session.process.stopped:
                self.go(session.process)
        else:
            self.server.carry_out(call, self.now)
            self._carried_out(call)

    def _carried_out(self, call: Call) -> None:
        """Answered, or blocked."""
        self._note_changes(call)
        self._look_at_locks()
        if call.state in (State.BLOCKED, State.GRANTED):
            self.note(f"{call}: blocked")
            since = call.blocked_at = self.elapsed
            self.after(LOCK_TIMEOUT, lambda: self._lock_timeout(call, since))
            return
        nobody = " (nobody waits)" if call.session.left else ""
        self.note(f"{call}: {_said(call)}{nobody}")
        for meddle in self.on_call:
            meddle(call)
            if call.state is State.OVER:
                return
        self._keep_notices(call)
        if call.session.left:
            self._end(call.session)
            return
        if self.random.random() < self.weather.lost_answer:
            self.disconnect(call.session)
            self._fail(call, "the answer was lost")
            return
        self._watch_idle(call.session)
        call.ready_at = self.elapsed + max(self._draw_delay(call), call.delay)
        if call.ready_at <= self.elapsed and self._may_go(call):
            self._deliver(call)

    def _note_changes(self, call: Call) -> None:
        session = call.session
        session.changes |= call.name not in _QUIET and bool(call.result)
        if not session.in_transaction:
            self.changed |= session.changes
            session.changes = False

    def _deliver(self, call: Call) -> None:
        if call.session.left:
            self._end(call.session)
            return
        process = call.session.process
        self.wire.over(call)
        if not call.answer.done():
            if call.error is not None:
                call.answer.set_exception(call.error)
            else:
                call.answer.set_result(call.result)
        self.go(process)

    def _fail(self, call: Call, why: str) -> None:
        self.note(f"{call}: {why}")
        call.state, call.result = State.ANSWERED, None
        call.error = asyncpg.ConnectionDoesNotExistError(why)
        if call.session.left:
            self._end(call.session)
            return
        call.ready_at = self.elapsed
        if self._may_go(call):
            self._deliver(call)

    def _lock_timeout(self, call: Call, since: float) -> None:
        if call.state is State.BLOCKED and call.blocked_at == since:
            self.server.cancel(call, asyncpg.LockNotAvailableError("lock timeout"))
            self._carried_out(call)

    def _look_at_locks(self) -> None:
        for call in self.server.look_at_locks():
            if call.state is State.GRANTED:
                call.ready_at = self.elapsed + self._draw_delay(call)
            else:
                self.note(f"{call}: {_said(call)}")

    # Sessions

    def _sessions_left(self) -> None:
        while self.wire.leaving:
            session = self.wire.leaving.pop(0)
            if not session.left:
                session.left = True
                self._left(session)

    def _left(self, session: Session) -> None:
        """The client has closed its end, or is no more. The server may not notice."""
        call = session.call
        if call is None:
            if session.in_transaction and self.random.random() < 0.3:
                self._watch_idle(session)
            else:
                self._end(session)
        elif call.state is State.ASKED:
            if call.travels:
                return
            if self.random.random() < 0.5:
                self.note(f"{call}: given up, never arrives")
                self._end(session)
            else:
                self.note(f"{call}: given up, still on its way")
        elif call.state is State.ANSWERED:
            self._end(session)
        elif self.random.random() < 0.5:
            self.server.cancel(call, asyncpg.QueryCanceledError("cancelled"))
            self._end(session)

    def _end(self, session: Session) -> None:
        if session.call is not None:
            self.wire.over(session.call)
        session.lost = True
        self.server.end(session)
        self._look_at_locks()
        if session in self.wire.sessions:
            self.wire.sessions.remove(session)

    def _watch_idle(self, session: Session) -> None:
        if session.in_transaction:
            since = session.idle_since = self.elapsed
            self.after(IDLE_IN_TRANSACTION_TIMEOUT, lambda: self._idle_for_long(session, since))

    def _idle_for_long(self, session: Session, since: float) -> None:
        busy = session.call is not None and session.call.state in (State.BLOCKED, State.GRANTED)
        if not session.in_transaction or session.idle_since != since or busy:
            return
        self.note(f"{session}: idle in its transaction for too long")
        if session.left:
            self._end(session)
        else:
            self.disconnect(session)

    def _keep_notices(self, call: Call) -> None:
        """Notices are heard when their transaction has committed."""
        session = call.session
        if call.error is None and call.name == "notify":
            session.notices.append(call.arguments[0])
        if session.in_transaction:
            return
        if call.error is None and call.name != "rollback":
            for notice in session.notices:
                self._tell(notice)
        session.notices.clear()

    def _tell(self, notice: str) -> None:
        for session in list(self.wire.sessions):
            for hear in session.hears:
                if not session.lost and self.random.random() >= self.weather.lost_notice:
                    process = session.process
                    process.call_soon(hear, None, 0, "detent", notice)
                    if not process.stopped and not process.cut:
                        self.go(process)

    # Time

    def _arrival(self, call: Call) -> float:
        return self.elapsed + self._draw_delay(call)

    def _draw_delay(self, call: Call) -> float:
        if call.name in self.weather.slow and self.random.random() < 0.5:
            return self.random.uniform(0, LONGEST_DELAY)
        mean = self.weather.latency
        if self.random.random() < self.weather.stall:
            mean = 100 * max(mean, 0.002)
        if not mean:
            return 0.0
        drawn = min(self.random.expovariate(1 / mean), LONGEST_DELAY)
        return round(drawn / _GRAIN) * _GRAIN

    def _pass_time(self, until: float) -> bool:
        moments = [self._events[0][0]] if self._events else []
        moments += [call.ready_at for call in self.wire.calls if call.ready_at > self.elapsed]
        for process in self.processes:
            due = None if process.stopped else process.next_timer()
            if due is not None:
                moments.append(max(due, self.elapsed))
        moment = min(moments, default=until)
        if moment > until:
            self.elapsed = until
            return False
        self.elapsed = moment
        while self._events and self._events[0][0] <= self.elapsed:
            heapq.heappop(self._events)[2]()
        for process in list(self.processes):
            if not process.stopped and (process.fire_timers() or process.has_work):
                self.go(process)
        self.look()
        return True


def _said(call: Call) -> str:
    if call.error is not None:
        return f"{type(call.error).__name__}: {call.error}"
    text = repr(call.result)
    return text if len(text) <= 160 else f"{text[:160]}…"
