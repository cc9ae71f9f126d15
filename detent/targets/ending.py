"""What a target tells of a firing's end, where a returned value or an exception doesn't say enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from detent.domain.settle import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An attempt that did not succeed, and how it is to be taken."""

    outcome: Outcome = Outcome.FAILED
    code: str | None = None
    """One word for programs: a status, `connect`, `dns`…"""
    error: str | None = None
    """For people."""
    excerpt: str | None = None
    """The beginning of what came back."""
    retryable: bool = True
    """False: trying again would not help."""
    retry_after: timedelta | None = None
    """How long the target asks us to wait, at least."""
    pause: str | None = None
    """Its schedule is to be paused, for this reason."""
    again_in: timedelta | None = None
    """When to try again, if another attempt is left: our own code knows better than the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferred:
    """Nothing was attempted: it waits again, keeps its seat, and no attempt is counted."""

    delay: timedelta
    reason: str


class Excerpt(str):
    """The beginning of what came back from a success, as it is to be kept."""

    __slots__ = ()
