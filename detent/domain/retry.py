"""When a failed attempt is tried again: explicit delays, or exponential ones, with jitter from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from detent.domain.duration import format_duration, parse_duration
from detent.domain.stable import stable_hash

_STEPS: Final = 1 << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """`max_attempts` counts all attempts, the first included. With `delays`, the last one repeats."""

    max_attempts: int = 3
    delays: tuple[timedelta, ...] = ()
    base: timedelta = timedelta(seconds=5)
    factor: float = 2.0
    cap: timedelta = timedelta(hours=1)
    jitter: float = 0.1
    """The part of a delay that is drawn anew for each firing, so that failures don't come back together."""

    def delay(self, tried: int, seed: str) -> timedelta:
        """How long to wait after that many attempts."""
        if self.delays:
            plain = self.delays[min(tried, len(self.delays)) - 1]
        else:
            growth = min(self.factor ** (tried - 1), self.cap / self.base) if self.base else 1.0
            plain = min(self.base * growth, self.cap)
        return plain * (1 - self.jitter + self.jitter * 2 * _drawn(tried, seed))

    def spread(self, asked: timedelta, tried: int, seed: str) -> timedelta:
        """A delay that a target asked for: never shorter, and drawn apart from that of other firings."""
        return asked * (1 + self.jitter * _drawn(tried, seed))

    @property
    def spec(self) -> dict[str, object]:
        """As files and REST write it."""
        shape: dict[str, object] = (
            {"delays": [format_duration(delay) for delay in self.delays]}
            if self.delays
            else {"base": format_duration(self.base), "factor": self.factor, "cap": format_duration(self.cap)}
        )
        return {"max_attempts": self.max_attempts, **shape, "jitter": self.jitter}


def _drawn(tried: int, seed: str) -> float:
    return stable_hash(seed, str(tried)) % _STEPS / _STEPS


NEVER: Final = Retry(max_attempts=1)


def exponential(
    max_attempts: int,
    *,
    base: timedelta | str = "5s",
    factor: float = 2.0,
    cap: timedelta | str = "1h",
    jitter: float = 0.1,
) -> Retry:
    """So many attempts in all, each delay so many times the one before, up to the cap."""
    return Retry(
        max_attempts=max_attempts, base=_read(base, "base"), factor=factor, cap=_read(cap, "cap"), jitter=jitter
    )  # fmt: skip


def _read(duration: timedelta | str, field: str) -> timedelta:
    return duration if isinstance(duration, timedelta) else parse_duration(duration, f"retry/{field}")
