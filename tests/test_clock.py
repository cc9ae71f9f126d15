"""The database's time as we know it: never ahead of it, close behind, and back when it is set back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent import clock
from detent.clock import DatabaseClock

THERE = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Time:
    """Real time as a test has it: our monotonic clock, and the database's, which is another one."""

    def __init__(self, monkeypatch, drift: float = 0.0) -> None:
        self.passed = 0.0
        self.ahead = 0.0
        self._drift = drift
        monkeypatch.setattr(clock, "monotonic", lambda: 5_000.0 + self.passed)

    @property
    def there(self) -> datetime:
        return THERE + timedelta(seconds=self.passed * (1 + self._drift) + self.ahead)

    def ask(self, known: DatabaseClock, *, there: float, back: float) -> None:
        """A question that took so long on its way there, and its answer so long on its way back."""
        asked_at = clock.monotonic()
        self.passed += there
        answer = self.there
        self.passed += back
        known.observe(answer, asked_at)


@pytest.fixture
def time(monkeypatch):
    return Time(monkeypatch)


# R-PLAN-4
@pytest.mark.parametrize("backs", [[0.01], [0.5, 0.001, 2.0], [3.0] * 20, [0.0]])
def test_it_is_never_ahead_and_as_close_as_the_quickest_answer(time, backs):
    known = DatabaseClock()
    assert not known.known
    for back in backs:
        time.ask(known, there=1.0, back=back)
        time.passed += 0.7
        assert known.now() <= time.there
    behind = (time.there - known.now()).total_seconds()
    assert behind <= min(backs[-8:]) + 0.0005 * time.passed + 1e-4, (
        "but for what clocks may have drifted since"
    )
    assert known.known


def test_an_instant_is_reached_here_only_after_it_is_there(time):
    known = DatabaseClock()
    time.ask(known, there=0.0, back=0.03)
    instant = THERE + timedelta(seconds=10)
    time.passed += known.until(instant) - clock.monotonic()
    assert time.there >= instant
    assert time.there - instant < timedelta(seconds=0.0301)


# R-PLAN-4
@pytest.mark.parametrize("step", [-3600.0, -10.0, -0.6, -0.31])
def test_a_clock_that_was_set_back_is_followed_at_once(time, step):
    """Otherwise firings would be early by so much, for as long as the old answers are kept."""
    known = DatabaseClock()
    for _ in range(8):
        time.ask(known, there=0.1, back=0.001)
    time.ahead += step
    time.ask(known, there=0.1, back=0.2)
    assert known.now() <= time.there


def test_an_answer_that_was_slow_is_no_step_back(time):
    """One pause of the database must not make the firings of the next second late by as much."""
    known = DatabaseClock()
    time.ask(known, there=0.0, back=0.001)
    time.ask(known, there=3.0, back=4.0)
    assert time.there - known.now() < timedelta(seconds=0.001 + 0.0005 * 7 + 1e-4)


@pytest.mark.parametrize("step", [0.6, 3600.0])
def test_a_clock_that_was_set_forward_is_followed_at_once(time, step):
    known = DatabaseClock()
    time.ask(known, there=0.1, back=0.001)
    time.ahead += step
    time.ask(known, there=0.1, back=0.001)
    assert time.there - known.now() < timedelta(seconds=0.01)


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5), st.floats(0, 60)), min_size=1, max_size=40),
    st.floats(-0.0005, 0.0005),
)
def test_it_is_not_ahead_however_long_answers_take_and_though_clocks_drift(asks, drift):
    """Between two answers by what they drift in that time: a worker asks each second."""
    with pytest.MonkeyPatch.context() as patch:
        time, known = Time(patch, drift), DatabaseClock()
        for there, back, pause in asks:
            time.ask(known, there=there, back=back)
            assert known.now() <= time.there + timedelta(seconds=abs(drift) * back)
            time.passed += pause
            assert known.now() <= time.there + timedelta(seconds=abs(drift) * (back + pause))
