"""The division of free places between lanes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import settings as examples_of
from hypothesis import strategies as st

from detent.domain.share import Lane, lane_weight, share
from tests.conftest import examples

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def lane(number, weight=1, *, ago=0, in_flight=0, room=None):
    return Lane(
        id=number, weight=weight, head_due=NOW - timedelta(seconds=ago), in_flight=in_flight, room=room
    )


@st.composite
def crowds(draw):
    """Lanes of some tenants, of which each has a cap or none."""
    rooms = draw(st.lists(st.one_of(st.none(), st.integers(0, 300)), min_size=8, max_size=8))
    return [
        lane(
            n, draw(st.integers(1, 1_000)), ago=draw(st.integers(0, 100)), in_flight=draw(st.integers(0, 500)),
            room=rooms[n // 10],
        )
        for n in draw(st.sets(st.integers(0, 79), max_size=60))
    ]  # fmt: skip


# R-EXEC-9
@examples_of(max_examples=examples(400))
@given(st.integers(-5, 2_000), crowds(), st.integers(0, 10**9))
def test_never_more_than_is_free_never_more_than_there_is_room_for_and_nothing_is_left_lying(
    free, lanes, turn
):
    given_out = share(free, lanes, turn)
    assert all(places > 0 for places in given_out.values())
    rooms = {one.tenant: one.room for one in lanes}
    of_tenant = Counter()
    for number, places in given_out.items():
        of_tenant[number // 10] += places
    for tenant, room in rooms.items():
        assert room is None or of_tenant[tenant] <= room
    most = free if None in rooms.values() else min(free, sum(rooms.values()))
    assert sum(given_out.values()) == max(0, most if lanes else 0)


@examples_of(max_examples=examples(200))
@given(st.integers(1, 30), crowds(), st.integers(0, 10**9))
def test_one_place_in_ten_goes_to_the_head_that_waits_longest_if_its_lane_has_nothing_in_flight(
    free, lanes, turn
):
    open_lanes = [one for one in lanes if one.room != 0 and not one.in_flight]
    lanes = [
        one
        for one in lanes
        if one in open_lanes or one.head_due > min(o.head_due for o in open_lanes or [one])
    ]
    if open_lanes:
        oldest = min(open_lanes, key=lambda one: (one.head_due, one.id))
        given_out = [share(1, lanes, n) for n in range(turn, turn + 10 * free)]
        assert sum(one.get(oldest.id, 0) for one in given_out) >= free


def test_a_single_lane_gets_everything_up_to_its_room():
    assert share(100, [lane(1)]) == {1: 100}
    assert share(100, [lane(1, room=7)]) == {1: 7}
    assert share(100, [lane(1, room=0)]) == {}
    assert share(0, [lane(1)]) == {}
    assert share(10, []) == {}


# R-EXEC-9
@pytest.mark.parametrize(
    ("weights", "free"),
    [((1, 3), 8), ((1, 3), 100), ((1, 2, 5), 50), ((1, 10), 200), ((2, 5), 3), ((1, 3), 1), ((7, 1, 1), 2)],
)
def test_places_follow_weights_within_a_tenth_while_all_have_work(weights, free):
    """A worker claims again as firings conclude; the oldest firing of a lane that was passed over grows older."""
    served, heads = Counter(), dict.fromkeys(range(len(weights)), 0)
    for turn in range(2_000):
        lanes = [lane(n, weight, ago=turn - heads[n]) for n, weight in enumerate(weights)]
        for n, places in share(free, lanes, turn * free).items():
            served[n] += places
            heads[n] = turn
    total = sum(served.values())
    assert total == 2_000 * free
    for n, weight in enumerate(weights):
        fair = weight / sum(weights)
        assert abs(served[n] / total - fair) <= 0.1, (n, served[n] / total, fair)


def test_nobody_starves_beside_a_lane_a_thousand_times_as_heavy():
    heads, served = {1: 0, 2: 0}, Counter()
    for turn in range(500):
        lanes = [lane(1, 1, ago=turn - heads[1]), lane(2, 1_000, ago=turn - heads[2])]
        for n, places in share(1, lanes, turn).items():
            served[n] += places
            heads[n] = turn
    assert served[1] >= 20
    assert served[2] >= 400


def test_what_a_lane_has_in_flight_counts_towards_its_part():
    """Whose firings take long holds more places for it: who is quick gets what becomes free."""
    assert share(10, [lane(1, in_flight=90), lane(2)]) == {2: 10}, "though its head is the oldest"
    assert share(100, [lane(1, in_flight=90), lane(2, ago=1)]) == {1: 5, 2: 95}


def test_long_firings_are_held_to_their_part_of_the_places():
    """Two lanes of equal weight: one runs for fifty turns, the other for one. Each comes to hold half of the places, and the
    one whose heads are the oldest a tenth more."""
    running, turn = [], 0
    seen = Counter()
    for now in range(400):
        running = [(number, ends) for number, ends in running if ends > now]
        held = Counter(number for number, _ in running)
        for number, places in share(
            20 - len(running), [lane(1, in_flight=held[1]), lane(2, in_flight=held[2])], turn
        ).items():
            running += [(number, now + (50 if number == 1 else 1))] * places
            turn += places
        if now >= 100:
            seen.update(number for number, _ in running)
    assert 0.5 <= seen[1] / seen.total() <= 0.6


def test_lanes_of_a_tenant_share_its_room_by_weight_and_leave_the_rest_to_others():
    urgent, lazy, other = lane(19, 10, room=4), lane(10, 1, room=4), lane(20, 5)
    assert share(100, [lazy, urgent, other], 1) == {19: 4, 20: 96}
    many = Counter()
    for turn in range(200):
        many.update(share(10, [lazy, urgent, other], turn * 10))
    assert many[19] + many[10] == 200 * 4
    assert many[19] > 5 * many[10] > 0


# R-EXEC-9
def test_a_lane_weighs_what_its_tenant_weighs_and_what_its_priority_adds():
    assert lane_weight(1, 0) == 1
    assert lane_weight(1, 9) == 10
    assert lane_weight(3, 4) == 15
