"""What every target is: it says what it can do, and makes of a schedule's work a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from detent.domain.errors import DetentError
from detent.domain.schedule import Overlap, Work
from detent.targets.context import Context

Begin = Callable[[Context | None], Awaitable[object]]


class TargetError(DetentError):
    """This worker can't do what the schedule asks for."""

    code = "target"


@dataclass(frozen=True, slots=True)
class Call:
    """Ready to begin. Without `wants_context` nobody needs to make one."""

    begin: Begin
    wants_context: bool
    work: Work | None
    """None if it could not be read; then `begin` raises the reason."""
    timeout_seconds: float | None
    wakes: bool
    """Other firings of the schedule may wait for the seat."""

    @staticmethod
    def of(work: Work, begin: Begin, *, wants_context: bool) -> Call:
        return Call(
            begin=begin,
            wants_context=wants_context,
            work=work,
            timeout_seconds=work.timeout.total_seconds() if work.timeout else None,
            wakes=work.overlap is not Overlap.SKIP,
        )


class Target(Protocol):
    """One kind of target."""

    @property
    def needs(self) -> Collection[int]:
        """What a firing may need that this one can do: see detent/domain/need.py."""

    def prepare(self, work: Work) -> Call:
        """Of work whose target is of this kind. Raises TargetError if it can't be done here."""

    async def close(self) -> None:
        """Nothing runs any more."""
