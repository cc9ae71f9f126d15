"""What a task may know of its firing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from detent.domain.identity import firing_id

Report = Callable[[float | None, str | None], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Passed to a task whose first parameter is annotated with it."""

    tenant_id: int
    schedule_id: int
    scheduled_for: datetime
    """The slot that this firing is for, however late it runs."""
    attempt: int
    fencing_token: int
    """Only grows for a firing: whoever has seen a larger one must refuse a smaller one."""
    catch_up: bool
    key_at: datetime
    cancelled: Callable[[], bool]
    report: Report

    @property
    def firing_id(self) -> str:
        return firing_id(self.schedule_id, self.key_at)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this firing."""
        return self.firing_id

    async def progress(self, done: float | None = None, note: str | None = None) -> bool:
        """Tells how far it has come. False: this attempt was taken away, and its result will not count."""
        return await self.report(done, note)
