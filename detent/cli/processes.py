"""Several processes of one command: started again when they die, told to stop when we are.

* Each is in a session of its own, so that Ctrl-C reaches us alone and we pass it on once; and it is tied to us, so that
  none is left behind when we are killed.
* One that dies is started again after a pause that grows while it doesn't live long.
* Where the first ones end at once because something is wrong with what they were given, there is nothing to repeat.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from detent import clock
from detent.cli.problem import WRONG_INPUT
from detent.cli.stop import Stop
from detent.lifeline import tied_by
from detent.observe.events import Events, ProcessEnded, Stopping

_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0
_LIVED_SECONDS: Final = 10.0
"""Who lived so long was started rightly."""


class Processes:
    """`arguments` are those of the command that each of them runs."""

    def __init__(self, arguments: Sequence[str], n: int, events: Events) -> None:
        self._command = [sys.executable, "-m", "detent", *arguments]
        self._n = n
        self._events = events
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._proven = False
        self._refused = False

    async def run(self) -> int:
        """Until all have ended. The code to exit with."""
        self._stop = Stop(on_second=self._kill)
        places = [asyncio.create_task(self._keep(number)) for number in range(1, self._n + 1)]
        await self._stop.asked.wait()
        self._events.emit(Stopping(what=f"{self._n} processes"))
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.terminate()
        await asyncio.gather(*places)
        return WRONG_INPUT if self._refused else 0

    async def _keep(self, number: int) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while not self._stop.asked.is_set():
            began = clock.monotonic()
            code = await self._live(number)
            if self._stop.asked.is_set():
                return
            if clock.monotonic() - began >= _LIVED_SECONDS:
                self._proven, pause = True, _FIRST_PAUSE_SECONDS
            if code == WRONG_INPUT and not self._proven:
                self._refused = True
                self._stop.asked.set()
                return
            self._events.emit(ProcessEnded(process=number, code=code, again_in_seconds=pause))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.asked.wait(), pause)
            pause = min(_LONGEST_PAUSE_SECONDS, 2 * pause)

    async def _live(self, number: int) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=tied_by(signal.SIGTERM),
        )
        self._running[number] = process
        if self._stop.asked.is_set():  # while it was being started
            process.terminate()
        code = await process.wait()
        del self._running[number]
        return code

    def _kill(self) -> None:
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.kill()
