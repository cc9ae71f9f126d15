"""Running the program of a peer: what it does once, and its workers."""

from __future__ import annotations

import json
import subprocess
import tempfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bench.peers import fetch
from detent import clock
from detent.bench.crew import BenchError

_PROGRAMS: Final = Path(__file__).parent / "programs"
_PATIENCE_SECONDS: Final = 120.0
_GRACE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.005
_PAIR: Final = 16
"""Bytes of two doubles."""

Stamp = tuple[float, float]
"""When a job was due, and when its handler began, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Program:
    command: Callable[[], tuple[Sequence[str], Path]]
    """What to run, and where: asked for when it is needed, for then it is fetched."""

    def run(self, verb: str, **told: object) -> None:
        """`install`, or `load`."""
        command, cwd = self.command()
        done = subprocess.run(
            [*command, verb, json.dumps(told)],
            cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=_PATIENCE_SECONDS,
        )  # fmt: skip
        if done.returncode:
            raise BenchError(f"{verb} failed: {_end_of(done.stderr)}")

    @contextmanager
    def workers(self, processes: int, told: Mapping[str, object]) -> Iterator[Workers]:
        """Their code is there, and they wait for `go`."""
        command, cwd = self.command()
        with tempfile.TemporaryDirectory(prefix="detent-peers-") as folder:
            line = [*command, "work", json.dumps({**told, "folder": folder})]
            with (Path(folder) / "log").open("wb") as log:
                started = [
                    subprocess.Popen(line, cwd=cwd, stdin=subprocess.PIPE, stdout=log, stderr=log)
                    for _ in range(processes)
                ]
            workers = Workers(Path(folder), started)
            try:
                workers.wait_until("loaded")
                yield workers
            finally:
                workers.stop()


class Workers:
    """Processes that do the same."""

    def __init__(self, folder: Path, processes: Sequence[subprocess.Popen[bytes]]) -> None:
        self._folder = folder
        self._processes = processes

    def go(self) -> None:
        """All at once."""
        for process in self._processes:
            stdin = _stdin(process)
            stdin.write(b"go\n")
            stdin.flush()

    def wait_until(self, word: str) -> None:
        deadline = clock.monotonic() + _PATIENCE_SECONDS
        while not all((self._folder / f"{one.pid}.{word}").exists() for one in self._processes):
            self.refuse_the_dead()
            if clock.monotonic() > deadline:
                raise BenchError(f"a worker isn't {word} after {_PATIENCE_SECONDS:.0f} s")
            clock.pause(_LOOK_SECONDS)

    def began(self) -> int:
        """How many handlers."""
        return sum(path.stat().st_size for path in self._folder.glob("*.stamps")) // _PAIR

    def stamps(self) -> list[Stamp]:
        flat = array("d")
        for path in self._folder.glob("*.stamps"):
            written = path.read_bytes()
            flat.frombytes(written[: len(written) // _PAIR * _PAIR])
        return list(zip(flat[::2], flat[1::2], strict=True))

    def refuse_the_dead(self) -> None:
        if any(process.poll() is not None for process in self._processes):
            raise BenchError(f"a worker ended: {self.last_words()}")

    def last_words(self) -> str:
        return _end_of((self._folder / "log").read_text(errors="replace"))

    def stop(self) -> None:
        for process in self._processes:
            try:
                _stdin(process).close()
            except BrokenPipeError:
                continue
        deadline = clock.monotonic() + _GRACE_SECONDS
        for process in self._processes:
            try:
                process.wait(max(0.0, deadline - clock.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _end_of(text: str) -> str:
    return " ".join(text.split())[-300:]


def in_javascript(name: str) -> Program:
    def command() -> tuple[Sequence[str], Path]:
        runtime, home = fetch.node()
        return [str(runtime), str(_PROGRAMS / f"{name}.mjs")], home

    return Program(command)


def in_python(name: str) -> Program:
    def command() -> tuple[Sequence[str], Path]:
        return [str(fetch.python()), "-m", f"bench.peers.programs.{name}"], fetch.ROOT

    return Program(command)
