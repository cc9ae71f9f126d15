"""What an attempt's outcome means for its firing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.retry import NEVER, Retry
from detent.domain.settle import (
    MAX_LOST,
    UNTRIED,
    Again,
    Concluded,
    Dead,
    Outcome,
    Tried,
    settle,
    settle_next,
    verdict_of,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIVE = Retry(max_attempts=5, base=timedelta(seconds=10), jitter=0)


PLAIN = Retry(max_attempts=3, base=timedelta(seconds=5), jitter=0)


def delay(*, retry=PLAIN, seed="s", **more) -> timedelta:
    found = settle(retry, Tried(attempts=1, lost=0), Outcome.FAILED, as_of=NOW, seed=seed, **more)
    assert isinstance(found, Again)
    return found.due_at - NOW


def after(attempts, outcome, *, lost=0, retry=FIVE, **more):
    return settle(retry, Tried(attempts=attempts, lost=lost), outcome, as_of=NOW, seed="f", **more)


# R-EXEC-4, R-EXEC-5
@pytest.mark.parametrize(
    ("attempts", "outcome", "then"),
    [
        (1, Outcome.SUCCEEDED, Concluded()),
        (5, Outcome.SUCCEEDED, Concluded()),
        (1, Outcome.CANCELLED, Concluded()),
        (1, Outcome.FAILED, Again(NOW + timedelta(seconds=10))),
        (2, Outcome.FAILED, Again(NOW + timedelta(seconds=20))),
        (4, Outcome.TIMED_OUT, Again(NOW + timedelta(seconds=80))),
        (5, Outcome.FAILED, Dead()),
        (5, Outcome.TIMED_OUT, Dead()),
        (9, Outcome.FAILED, Dead()),
        (1, Outcome.LOST, Again(NOW)),
        (5, Outcome.LOST, Dead()),
    ],
)
def test_an_outcome_and_the_attempts_so_far_decide(attempts, outcome, then):
    assert after(attempts, outcome) == then


def test_an_error_that_will_not_pass_is_not_tried_again():
    assert after(1, Outcome.FAILED, retryable=False) == Dead()
    assert after(1, Outcome.SUCCEEDED, retryable=False) == Concluded()


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


# R-EXEC-2, R-EXEC-5
def test_a_firing_that_cost_three_nodes_is_dead_whatever_its_policy():
    many, tried = Retry(max_attempts=100), UNTRIED
    for lost in range(1, MAX_LOST):
        assert settle_next(many, tried, Outcome.LOST, as_of=NOW, firing=(1, NOW)) == Again(NOW)
        tried = Tried(attempts=lost, lost=lost)
    assert settle_next(many, tried, Outcome.LOST, as_of=NOW, firing=(1, NOW)) == Dead()
    assert settle_next(many, tried, Outcome.SUCCEEDED, as_of=NOW, firing=(1, NOW)) == Concluded()


# R-EXEC-11
def test_what_a_stopping_worker_gave_up_speaks_against_nobody():
    twice = Tried(attempts=2, lost=MAX_LOST - 1)
    many = Retry(max_attempts=100)
    for _ in range(10):
        assert settle_next(many, twice, Outcome.LOST, as_of=NOW, firing=(1, NOW), stopping=True) == Again(NOW)
    assert settle_next(NEVER, UNTRIED, Outcome.LOST, as_of=NOW, firing=(1, NOW), stopping=True) == Dead()


def test_the_ledger_is_told_in_a_word_and_an_instant():
    assert verdict_of(Concluded()) == ("conclude", None)
    assert verdict_of(Again(NOW)) == ("again", NOW)
    assert verdict_of(Dead()) == ("die", None)
