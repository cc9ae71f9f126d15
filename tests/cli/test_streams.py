"""Standard streams that are closed, full or go away: a line that says so, never a traceback."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from detent.cli import jsonl

DETENT = f"{sys.executable} -m detent"
LINE = '{"expr": "* * * * *", "after": "2026-11-19T08:00:00Z", "count": 1}'


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        input=f"{LINE}\n" * 50_000,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("next --jsonl <&-", 1, "detent: standard input is closed\n"),
        ("next --jsonl >&-", 1, "detent: standard output is closed\n"),
        ("lint - <&-", 2, "detent: - can't be read: standard input is closed\n"),
        ("next '* * * * *' >&-", 0, ""),
    ],
)
def test_a_closed_stream_is_told_in_a_line(command, code, said):
    done = shell(f"{DETENT} {command}")
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize("command", ["next --jsonl", "next '* * * * *'", "version", "lint /dev/null --json"])
def test_a_full_disk_is_told_in_a_line(command):
    done = shell(f"{DETENT} {command} > /dev/full")
    if "lint" in command:  # it has nothing to say
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert (done.returncode, done.stderr) == (1, "detent: [Errno 28] No space left on device\n")


def test_a_reader_that_goes_away_ends_the_stream():
    done = shell(f"{DETENT} next --jsonl | head -n 1")
    assert (done.stdout, done.stderr) == ('{"next": ["2026-11-19T08:01:00Z"]}\n', "")


class Sink(io.BytesIO):
    def __init__(self) -> None:
        super().__init__()
        self.largest = 0

    def write(self, data) -> int:
        self.largest = max(self.largest, len(data))
        return super().write(data)


def test_answers_are_not_piled_up(monkeypatch):
    """An answer has a quarter of a megabyte at most, but thousands of lines that ask for it come in one piece."""
    line = b'{"expr":"* * * * *","after":"2026-11-19T08:00:00Z","count":10000}\n'
    sink = Sink()
    monkeypatch.setattr(jsonl, "bytes_in", lambda: io.BytesIO(line * 20))
    monkeypatch.setattr(jsonl, "bytes_out", lambda: sink)
    jsonl.answer_stream()
    assert sink.getvalue().count(b"\n") == 20
    assert sink.largest < 1 << 18
