"""From how a firing ended to the fact that is written down, and what becomes of the firing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from detent.domain.retry import NEVER
from detent.domain.settle import UNTRIED, Outcome, Tried, settle_next, verdict_of
from detent.store.concluding import Fact, Successes
from detent.targets.ending import Ended, Excerpt
from detent.targets.said import MOST_ERROR, MOST_EXCERPT, said_exception, said_result, storable
from detent.worker.hand import Held

STOPPING: Final = "stopping"
"""The code of an attempt that its worker gave up, for it had to end: lost, but not with its node. See tried.sql."""


def successes(done: Sequence[tuple[Held, float, object]]) -> Successes:
    """Column by column: there may be a hundred thousand of them a second."""
    claimed = [success[0].claimed for success in done]
    results = [success[2] for success in done]
    return Successes(
        schedule_ids=[one[0] for one in claimed],
        seats=[one[2] for one in claimed],
        volleys=[one[4] for one in claimed],
        revisions=[one[6] for one in claimed],
        started_at=[success[0].started + success[0].offset for success in done],
        finished_at=[success[1] + success[0].offset for success in done],
        excerpts=None if results.count(None) == len(results) else [_excerpt(result) for result in results],
    )


def ending(
    held: Held, finished: float, outcome: Outcome, error: BaseException | Ended | str,
    *, before: Tried | None, as_of: datetime,
) -> Fact:  # fmt: skip
    """The fact of an attempt that did not succeed. `before`: its firing's attempts on record."""
    claimed, work = held.claimed, held.call.work
    told = error if isinstance(error, Ended) else Ended(code=held.cancel)
    settlement = settle_next(
        work.retry if work else NEVER,
        before or UNTRIED,
        outcome,
        as_of=as_of,
        firing=(claimed[0], claimed[1]),
        retryable=told.retryable,
        retry_after=told.retry_after,
        again_in=told.again_in,
        stopping=held.cancel == STOPPING,
    )
    verdict, due_at = verdict_of(settlement)
    message, trace = said_error(error)
    if outcome is Outcome.CANCELLED and held.wish:
        message = held.wish
    began = held.started or finished
    return Fact(
        claimed[0], claimed[2], claimed[4], claimed[6], began + held.offset, finished + held.offset,
        outcome.value, told.code, message, trace, verdict, due_at,
    )  # fmt: skip


def _excerpt(result: object) -> str | None:
    if result is None:
        return None
    return storable(result, MOST_EXCERPT) if isinstance(result, Excerpt) else said_result(result)


def said_error(error: BaseException | Ended | str) -> tuple[str | None, str | None]:
    """The message, and the end of the traceback without our own frames, or of what came back."""
    if isinstance(error, Ended):
        return _storable(error.error, MOST_ERROR), _storable(error.excerpt, MOST_EXCERPT)
    if isinstance(error, str):
        return error, None
    return said_exception(error)


def _storable(text: str | None, most: int) -> str | None:
    return None if text is None else storable(text, most)
