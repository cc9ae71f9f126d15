"""Firing ids: opaque, of one length, and back."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.domain.errors import SpecError
from detent.domain.identity import firing_id, firing_key, off_the_millisecond
from detent.domain.limits import EARLIEST, LATEST

INSTANTS = st.datetimes(
    EARLIEST.replace(tzinfo=None), LATEST.replace(tzinfo=None) - timedelta.resolution
).map(lambda naive: naive.replace(tzinfo=UTC))


# R-EXEC-1
@given(st.integers(1, 2**63 - 1), INSTANTS)
def test_an_id_holds_the_key_of_its_firing(schedule_id, when):
    text = firing_id(schedule_id, when)
    assert firing_key(text) == (schedule_id, when)
    assert len(text) == 28
    assert text.isascii()
    assert text.replace("_", "").isalnum()
    assert text == text.lower()


@given(st.text(max_size=40) | st.from_regex(r"f_[a-z2-7]{26}", fullmatch=True))
def test_what_is_no_id_is_refused_and_what_is_one_reads_back_as_itself(text):
    try:
        key = firing_key(text)
    except SpecError as error:
        assert error.code == "bad_id"
    else:
        assert firing_id(*key) == text


@pytest.mark.parametrize(
    "text",
    ["", "f_", "f_" + "a" * 25, "f_" + "a" * 27, "f_" + "A" * 26, "f_" + "1" * 26, "g_" + "a" * 26, "f_" + "ä" * 26,
     "f_" + "7" * 26, "f_aaaaaaaaaaaaaaaaaaaaaaaaab"],
)  # fmt: skip
def test_hostile_ids(text):
    with pytest.raises(SpecError, match="is no firing id"):
        firing_key(text)


@given(INSTANTS)
def test_an_identity_off_the_slots_is_the_same_microsecond_or_the_next(when):
    moved = off_the_millisecond(when)
    assert moved.microsecond % 1000
    assert timedelta() <= moved - when <= timedelta.resolution
