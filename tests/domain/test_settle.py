"""What an outcome means for its firing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.retry import Retry, exponential
from detent.domain.settle import Again, Concluded, Dead, Outcome, Tried, settle

AS_OF = datetime(2026, 3, 1, tzinfo=UTC)
PLAIN = Retry(max_attempts=3, base=timedelta(seconds=5), jitter=0)


def settled(outcome=Outcome.FAILED, *, retry=PLAIN, attempts=1, lost=0, seed="s", **more):
    return settle(
        retry, Tried(attempts=attempts, lost=lost), outcome, as_of=AS_OF, seed=seed, **more
    )  # fmt: skip


def delay(**given) -> timedelta:
    found = settled(**given)
    assert isinstance(found, Again)
    return found.due_at - AS_OF


# R-EXEC-4
def test_each_outcome_has_its_consequence():
    assert settled(Outcome.SUCCEEDED) == Concluded()
    assert settled(Outcome.CANCELLED) == Concluded()
    assert settled(Outcome.FAILED) == Again(AS_OF + timedelta(seconds=5))
    assert settled(Outcome.TIMED_OUT, attempts=2) == Again(AS_OF + timedelta(seconds=10))
    assert settled(Outcome.LOST) == Again(AS_OF)
    assert settled(Outcome.FAILED, attempts=3) == Dead()
    assert settled(Outcome.FAILED, retryable=False) == Dead()
    assert settled(Outcome.LOST, retry=exponential(100), attempts=3, lost=3) == Dead()


# R-EXEC-4
def test_a_target_that_asks_for_patience_is_never_called_earlier_and_never_put_off_beyond_the_cap():
    second, minute, hour = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
    assert delay(retry_after=minute) == minute
    assert delay(retry_after=second) == 5 * second, "the policy's own delay is longer"
    assert delay(retry_after=5 * hour) == hour
    assert delay(retry_after=hour, retry=Retry(cap=5 * minute, jitter=0)) == 5 * minute
    assert delay(retry_after=-minute) == 5 * second


@pytest.mark.parametrize("asked", [10, 600])
def test_those_who_are_asked_for_the_same_patience_do_not_come_back_together(asked):
    retry = Retry(max_attempts=9, base=timedelta(seconds=1), jitter=0.2)
    after = timedelta(seconds=asked)
    seen = [delay(retry=retry, seed=str(n), retry_after=after) / after for n in range(300)]
    assert min(seen) >= 1
    assert max(seen) <= 1.2
    spread = [sum(1 for one in seen if low <= one < low + 0.02) for low in (1 + 0.02 * n for n in range(10))]
    assert max(spread) <= 3 * len(seen) / 10
