"""The whole spec of a schedule: its limits. Triggers have tests of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.errors import SpecError
from detent.domain.schedule import register

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)


def registered(**more: object):
    spec = {"name": "nightly", "trigger": {"cron": "0 2 * * *"}, "target": {"task": "report"}, **more}
    return register(spec, as_of=NOW, identity="1", min_interval=timedelta(minutes=1))


# R-TIME-5
def test_max_firings_is_part_of_the_cadence():
    assert registered(max_firings=3).cadence.triggers.max_firings == 3
    assert registered().cadence.triggers.max_firings is None


# R-TIME-9
@pytest.mark.parametrize("wrong", [0, -1, True, False, 1.0, "3", None, 10**12])
@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("max_firings", {}),
        ("max_concurrent", {"overlap": "allow"}),
        ("retry/max_attempts", {}),
        ("misfire/cap", {}),
    ],
)
def test_a_limit_is_a_whole_number_from_1(field, more, wrong):
    """Nothing stands for no limit: 0 was read so, by accident."""
    outer, _, inner = field.partition("/")
    with pytest.raises(SpecError, match="is a whole number from 1") as refused:
        registered(**more, **{outer: {inner: wrong} if inner else wrong})
    assert (refused.value.code, refused.value.field) == ("out_of_range", field)


# R-TIME-9
@pytest.mark.parametrize("wrong", ["0s", "-5s", 5, True, "1e309s", "11y", "4000d", "5", "", "5 s", "٥s"])
@pytest.mark.parametrize("field", ["jitter", "window", "timeout", "start_deadline", "expected_duration"])
def test_a_duration_is_positive_and_at_most_ten_years(field, wrong):
    with pytest.raises(SpecError) as refused:
        registered(**{field: wrong})
    assert (refused.value.code, refused.value.field) == ("bad_duration", field)


# R-TIME-9
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "\ud800", {1, 2}, b"x"])
@pytest.mark.parametrize("field", ["payload", "retry", "misfire", "max_firings"])
def test_what_is_no_json_is_blamed_on_its_own_field(field, wrong):
    with pytest.raises(SpecError) as refused:
        registered(**{field: wrong if field == "max_firings" else {"cap": wrong}})
    assert refused.value.field.split("/")[0] == field
