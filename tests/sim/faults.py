"""What goes wrong, drawn from the seed. Each seed has a few kinds of faults, so that each kind meets fair weather, too.

Faults strike at a moment, or at a call: armed, they wait for somebody to make it, and strike before it is carried out,
or when it has been and its answer isn't there yet.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.sim.crew import Crew, Post
from tests.sim.director import Director, Weather
from tests.sim.pace import IDLE_IN_TRANSACTION_TIMEOUT, LEASE
from tests.sim.process import Process
from tests.sim.wire import Call, State

_CALLS = (
    "claim", "claim", "conclude", "conclude", "succeed", "plan", "plan", "commit", "commit", "take_shards", "give_shards",
    "hand_back", "renew_lease", "bury_node", "overlap", "end_waiting", "register_node", "leave", "orphans", "wake_forgotten",
    "record_stale", "own_facts", "running_of_node", "expired_node", "promise", "hold", "set_timer", "move_catch_up",
    "lock_timer", "replace_waiting", "hold_but", "release", "in_flight", "due_timers",
)  # fmt: skip
"""Where a fault is worth waiting for, the worthiest twice."""
_WEATHER: dict[str, list[float]] = {
    "lost_request": [0, 0, 0.01, 0.03],
    "lost_answer": [0, 0, 0.01, 0.05],
    "late_request": [0, 0, 0.01, 0.03],
    "stall": [0, 0, 0.005, 0.02],
    "lost_notice": [0, 0.5, 1],
}
_AWAY_SECONDS = 8.0
_LONGEST_STOP = 2.5 * LEASE


class Faults:
    """`begin`, and later `end`."""

    def __init__(self, director: Director, crew: Crew, random: Random, weather: Weather) -> None:
        self._director = director
        self._crew = crew
        self._random = random
        self._weather = weather
        self._over = False
        self._armed: list[tuple[str, bool, Callable[[Call], None]]] = []
        director.on_call.append(self._meddle)

    def begin(self) -> None:
        random = self._random
        for name, chances in _WEATHER.items():
            setattr(self._weather, name, random.choice(chances))
        self._weather.slow = tuple(random.sample(_CALLS, random.choice([0, 1, 3])))
        self._kinds = random.sample(list(self._strikes()), random.choice([0, 2, 4, 6]))
        self._every = random.choice([1.5, 3.0, 6.0])
        self._director.note(f"faults: {self._kinds}, {self._weather}")
        if self._kinds:
            self._later()

    def end(self, for_ever: Post | None) -> None:
        """All but one heal: that one never does."""
        self._over = True
        self._armed.clear()
        self._weather.calm()
        for post in self._crew.posts:
            if post is for_ever:
                self._break(post)
                continue
            if post.process is not None:
                self._go_on(post.process, 0.0)
            self._crew.start(post)

    def _break(self, post: Post) -> None:
        post.restarts = False
        how = self._random.choice(["dead", "stopped", "cut"])
        self._director.note(f"{post.name} is {how} for ever")
        if how == "dead" or post.process is None:
            self._crew.kill(post, None)
        else:
            setattr(post.process, how, True)

    def _later(self) -> None:
        self._director.after(self._random.expovariate(1 / self._every), self._strike)

    def _strike(self) -> None:
        if not self._over:
            self._later()
            post, kind = self._random.choice(self._crew.posts), self._random.choice(self._kinds)
            self._strikes()[kind](post)

    def _strikes(self) -> dict[str, Callable[[Post], Any]]:
        return {
            "crash": self._crash,
            "crash_at": lambda _: self._arm("crash", lambda call: self._crash(self._post(call))),
            "stop": lambda post: post.process and self._stop(post.process),
            "stop_at": lambda _: self._arm("stop", lambda call: self._stop(call.session.process)),
            "suspend": lambda post: post.process and self._stop(post.process, suspended=True),
            "cut": lambda post: post.process and self._cut(post.process),
            "slow_at": lambda _: self._arm("be slow", self._slow),
            "clock": lambda _: self._set_clock(),
            "clock_at": lambda _: self._arm("the clock jumps", self._jump),
            "restart": lambda _: self._director.disconnect_all(),
            "end_session": lambda _: self._end_session(),
            "sigterm": lambda post: self._crew.terminate(post, self._random.uniform(0.1, 3)),
            "away": self._away,
        }

    # At a call

    def _arm(self, what: str, act: Callable[[Call], None]) -> None:
        name, before = self._random.choice(_CALLS), self._random.random() < 0.4
        self._director.note(f"armed: {what} {'before' if before else 'after'} the next {name}")
        self._armed.append((name, before, act))

    def _meddle(self, call: Call) -> None:
        """Before a call is carried out, and after it."""
        before, process = call.state is State.ASKED, call.session.process
        for armed in list(self._armed):
            name, wants_before, act = armed
            if name == call.name and wants_before == before and not process.dead and not process.stopped:
                self._armed.remove(armed)
                act(call)

    def _slow(self, call: Call) -> None:
        """Its answer, and so its transaction, takes as long as the server allows."""
        call.delay = self._random.uniform(0, IDLE_IN_TRANSACTION_TIMEOUT)

    def _jump(self, call: Call) -> None:
        """All leases run out, in the middle of it."""
        self._slow(call)
        self._director.set_clock(self._random.uniform(1, 1.5) * LEASE)

    def _post(self, call: Call) -> Post | None:
        return next((post for post in self._crew.posts if post.process is call.session.process), None)

    # At a moment

    def _crash(self, post: Post | None) -> None:
        if post is not None:
            self._crew.kill(post, self._random.uniform(0.2, _AWAY_SECONDS))

    def _away(self, post: Post) -> None:
        """All of its kind."""
        for other in self._crew.posts:
            if other.kind == post.kind:
                self._crew.kill(other, self._random.uniform(LEASE, 3 * LEASE))

    def _stop(self, process: Process, *, suspended: bool = False) -> None:
        """SIGSTOP; suspended, its monotonic clock stands still, too."""
        if process.stopped:
            return
        seconds = self._random.choice([0.5, 2.0, LEASE, _LONGEST_STOP]) * self._random.uniform(0.3, 1)
        self._director.note(f"{process.name} stops for {seconds:.1f} s")
        process.stopped = True
        for call in self._director.wire.calls:
            if call.session.process is process and call.state is State.ASKED and self._random.random() < 0.5:
                call.ready_at = self._director.elapsed + seconds  # it was about to ask
        self._director.after(seconds, lambda: self._go_on(process, seconds if suspended else 0.0))

    def _cut(self, process: Process) -> None:
        seconds = self._random.uniform(1, _LONGEST_STOP)
        self._director.note(f"{process.name} is cut off for {seconds:.1f} s")
        process.cut = True
        self._director.after(seconds, lambda: self._go_on(process, 0.0))

    def _go_on(self, process: Process, behind: float) -> None:
        if process.stopped or process.cut:
            self._director.note(f"{process.name} goes on")
        process.stopped = process.cut = False
        process.offset -= behind

    def _set_clock(self) -> None:
        draw = self._random.uniform
        self._director.set_clock(
            self._random.choice([draw(-0.5, 0.5), draw(-5, 5), draw(-15, 15), draw(LEASE, 2 * LEASE)])
        )

    def _end_session(self) -> None:
        if self._director.wire.sessions:
            self._director.disconnect(self._random.choice(self._director.wire.sessions))
