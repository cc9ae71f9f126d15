"""Delays between attempts."""

from __future__ import annotations

from datetime import timedelta
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.domain.retry import NEVER, Retry, exponential

SECOND = timedelta(seconds=1)


def seconds(retry, attempts):
    return [retry.delay(n, "f").total_seconds() for n in range(1, attempts)]


# R-EXEC-4
def test_delays_double_up_to_the_cap():
    assert seconds(Retry(base=5 * SECOND, cap=60 * SECOND, jitter=0), 8) == [5, 10, 20, 40, 60, 60, 60]
    assert seconds(Retry(base=5 * SECOND, factor=3, cap=600 * SECOND, jitter=0), 5) == [5, 15, 45, 135]
    assert seconds(Retry(base=5 * SECOND, factor=1, jitter=0), 4) == [5, 5, 5]


def test_explicit_delays_are_taken_one_by_one_and_the_last_repeats():
    assert seconds(Retry(delays=(SECOND, 10 * SECOND, 100 * SECOND), jitter=0), 7) == [
        1,
        10,
        100,
        100,
        100,
        100,
    ]


def test_exponential_counts_all_attempts():
    assert exponential(5).max_attempts == 5
    assert NEVER.max_attempts == 1


# R-EXEC-4
@pytest.mark.parametrize("jitter", [0.1, 0.5, 1.0])
def test_jitter_spreads_firings_evenly_around_the_plain_delay(jitter):
    retry = Retry(base=100 * SECOND, jitter=jitter)
    drawn = [retry.delay(1, f"f{n}").total_seconds() for n in range(2_000)]
    assert min(drawn) >= 100 * (1 - jitter)
    assert max(drawn) <= 100 * (1 + jitter)
    assert abs(mean(drawn) - 100) < 3 * jitter
    for decile in range(10):
        low = 100 * (1 - jitter) + decile * 20 * jitter
        assert 120 < sum(low <= delay < low + 20 * jitter for delay in drawn) < 280


def test_every_node_draws_the_same_delay_and_each_attempt_another():
    retry = Retry(base=100 * SECOND, factor=1, jitter=0.5)
    assert retry.delay(1, "f") == retry.delay(1, "f")
    assert len({retry.delay(n, "f") for n in range(1, 20)}) == 19


@given(
    st.integers(1, 100),
    st.integers(0, 3_600),
    st.floats(1, 100),
    st.integers(0, 86_400),
    st.floats(0, 1),
    st.text(max_size=9),
)
def test_no_delay_is_negative_or_beyond_the_cap_and_its_jitter(tried, base, factor, cap, jitter, seed):
    retry = Retry(base=base * SECOND, factor=factor, cap=cap * SECOND, jitter=jitter)
    assert timedelta() <= retry.delay(tried, seed) <= cap * SECOND * (1 + jitter) + timedelta.resolution
