"""What came of a request: an answer, or none and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

CONNECT_TIMEOUT: Final = "connect_timeout"
TIMEOUT: Final = "timeout"


@dataclass(slots=True)
class Answer:
    status: int
    body: bytes
    headers: dict[bytes, bytes]
    """Those that are looked at, in lower case."""
    truncated: bool = False
    """There was more than may be read."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The one word is for programs, the other words for people."""

    code: str
    error: str
    final: bool = field(default=False)
    """Trying again would not help."""

    @property
    def timed_out(self) -> bool:
        return self.code in (TIMEOUT, CONNECT_TIMEOUT)
