"""Recurrence rules against python-dateutil, an independent engine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

from dateutil.rrule import rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from detent.domain.errors import SpecError
from detent.domain.rrule_text import parse_rrule
from detent.domain.zone import zone
from tests.conftest import examples

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
REACH = {"SECONDLY": timedelta(days=2), "MINUTELY": timedelta(days=20), "HOURLY": timedelta(days=120)}


def some(values: list[int] | list[str], most: int = 3) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True).map(
        lambda found: ",".join(map(str, found))
    )


@st.composite
def rules(draw) -> str:
    frequency = draw(
        st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"])
    )
    counted = frequency in ("YEARLY", "MONTHLY")
    days = (
        [f"{n}{d}" for n in (1, 2, 4, 5, -1, -2) for d in DAYS] if counted and draw(st.booleans()) else DAYS
    )
    parts = {
        "INTERVAL": st.sampled_from([1, 2, 3, 5, 7, 13, 15, 30]).map(str),
        "BYMONTH": some(list(range(1, 13))),
        "BYDAY": some(days),
        "BYHOUR": some(list(range(24))),
        "BYMINUTE": some(list(range(60))),
        "BYSECOND": some(list(range(60))),
        "WKST": st.sampled_from(DAYS),
        "COUNT": st.integers(1, 30).map(str),
    }
    if frequency != "WEEKLY":
        parts["BYMONTHDAY"] = some([*range(1, 32), *range(-31, 0)])
    if frequency == "YEARLY":
        parts["BYYEARDAY"] = some([*range(1, 367), *range(-366, 0)])
        parts["BYWEEKNO"] = some([*range(1, 54), *range(-53, 0)])
    if frequency not in REACH:
        parts["BYSETPOS"] = some([1, 2, 3, -1, -2])
    chosen = draw(st.lists(st.sampled_from(list(parts)), max_size=5, unique=True))
    return ";".join([f"FREQ={frequency}", *(f"{name}={draw(parts[name])}" for name in chosen)])


starts = st.datetimes(datetime(2020, 1, 1), datetime(2020, 12, 31)).map(lambda d: d.replace(microsecond=0))  # noqa: DTZ001


def disagreement(text: str) -> str | None:
    """Where dateutil is known to differ, and why ours stands.

    - BYSETPOS of a WEEKLY rule: dateutil begins the first set at DTSTART; the RFC's set is the whole week.
    - BYWEEKNO without a day: dateutil takes all seven days; the RFC takes what is missing from DTSTART.
    - BYWEEKNO with counted weekdays, and plain with counted weekdays: the RFC forbids the former, and we the former.
    """
    if "FREQ=WEEKLY" in text and "BYSETPOS" in text:
        return "the first week"
    if "BYWEEKNO" in text and (
        "BYDAY" not in text or any(c.isdigit() for c in text.split("BYDAY=")[1].split(";", maxsplit=1)[0])
    ):
        return "the day of a week"
    return None


# R-TIME-3
@given(rules(), starts, st.integers(0, 10**6))
@settings(max_examples=examples(300))
def test_every_slot_is_that_of_dateutil(text, start, part):
    assume(disagreement(text) is None)
    try:
        ours = parse_rrule(text, start.replace(tzinfo=UTC), zone("UTC"))
    except SpecError:
        return
    low = (start - EPOCH) // timedelta(seconds=1)
    frequency = text.split(";")[0][5:]
    end = start + REACH.get(frequency, timedelta(days=365 * 9))
    high = (end - EPOCH) // timedelta(seconds=1)
    bound = "" if "COUNT" in text else f";UNTIL={end:%Y%m%dT%H%M%S}"
    try:
        judged = [
            (slot - EPOCH) // timedelta(seconds=1)
            for slot in islice(takewhile(lambda s: s < end, rrulestr(text + bound, dtstart=start)), 50)
        ]
    except ValueError:  # its word for a rule that is never fulfilled
        judged = []
    found, wall = [], low
    while len(found) < 50 and (wall := ours.next_wall(wall, high)) is not None:
        found.append(wall)
        wall += 1
    assert found == judged
    if len(judged) < 50:
        middle = low + (high - low) * part // 10**6
        assert ours.count_walls(middle, high) == sum(wall >= middle for wall in judged)
