"""Floors: what they skip, and how everything that commits late is found all the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent import clock
from detent.domain.limits import EARLIEST
from detent.floor import LONGEST_TRANSACTION, Floor, Look

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def elapsed(monkeypatch):
    """Our monotonic clock, at the test's word."""
    time = [1_000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: time[0])

    def turn(seconds: float) -> None:
        time[0] += seconds

    return turn


def test_the_first_look_is_at_everything(elapsed):
    floor = Floor()
    assert floor.look() is Look.ALL
    assert floor.of(1, Look.ALL, NOW) == EARLIEST
    assert floor.of(1, Look.EXACT, NOW) == EARLIEST, "nothing is known of this key"


def test_an_exact_look_begins_where_the_last_one_ended_or_a_second_ago(elapsed):
    floor = Floor()
    floor.reached(1, NOW - 5 * SECOND)
    floor.reached(2, NOW + 5 * SECOND)
    assert floor.of(1, Look.EXACT, NOW) == NOW - 5 * SECOND
    assert floor.of(2, Look.EXACT, NOW) == NOW - SECOND
    assert floor.lowest(Look.EXACT, NOW) == NOW - 5 * SECOND


def test_a_near_look_reaches_back_as_far_as_a_transaction_may_last(elapsed):
    floor = Floor()
    floor.reached(1, NOW)
    assert floor.of(1, Look.NEAR, NOW) == NOW - LONGEST_TRANSACTION


def test_a_head_that_was_found_and_not_taken_is_where_the_next_look_begins(elapsed):
    floor = Floor()
    floor.reached(1, NOW)
    floor.found(Look.ALL, {1: NOW, 2: NOW - 60 * SECOND}, NOW, complete=True)
    assert floor.lowest(Look.EXACT, NOW) == NOW - 60 * SECOND
    floor.found(Look.EXACT, {}, NOW, complete=True)
    assert floor.lowest(Look.EXACT, NOW) == NOW - SECOND


@pytest.mark.parametrize(
    ("seconds", "near", "every"), [(0.0001, 0.002, 5.0), (0.1, 2.0, 5.0), (10.0, 5.0, 200.0), (99, 5, 300)]
)
def test_dear_looks_are_rare_but_never_given_up(elapsed, seconds, near, every):
    floor = Floor()
    floor.looked(Look.ALL, seconds)
    assert floor.look() is Look.EXACT
    elapsed(near)
    assert floor.look() is (Look.NEAR if near < every else Look.ALL)
    floor.looked(Look.NEAR, seconds)
    assert floor.look() is Look.EXACT
    elapsed(every - near)
    assert floor.look() is Look.ALL
