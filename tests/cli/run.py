"""Runs the real command in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parent.parent.parent


def detent(
    *arguments: str, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "detent", *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env={**os.environ, "TZ": "UTC", "COLUMNS": "120", "PYTHONPATH": str(ROOT), **environment},
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class Running:
    """A command that goes on until it is told to stop. Its lines, both streams, are read as they come."""

    def __init__(self, *arguments: str, cwd: Path | None = None, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "detent", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, "TZ": "UTC", "PYTHONPATH": str(ROOT), **environment},
        )
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def until(self, pattern: str, *, seconds: float = 30, after: int = 0) -> re.Match[str]:
        """The first line, from the `after`th on, in which the pattern is found."""
        found: list[re.Match[str]] = []

        def here() -> bool:
            found[:] = [match for line in self.lines[after:] if (match := re.search(pattern, line))]
            return bool(found) or not self._reader.is_alive()

        with self._more:
            self._more.wait_for(here, seconds)
        assert found, f"{pattern!r} was not printed:\n{self.text}"
        return found[0]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ends(self, *, seconds: float = 30) -> int:
        code = self.process.wait(seconds)
        self._reader.join()
        return code

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _read(self) -> None:
        for line in self.process.stdout:
            with self._more:
                self.lines.append(line.decode().rstrip("\n"))
                self._more.notify_all()
        with self._more:
            self._more.notify_all()
