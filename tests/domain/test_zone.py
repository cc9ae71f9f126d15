from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from detent.domain import zone as zones
from detent.domain.errors import SpecError
from detent.domain.instant import EPOCH
from detent.domain.limits import EARLIEST, LATEST
from detent.domain.zone import TZDATA_VERSION, old_names, zone, zone_names

YEARS = timedelta(days=366)


# R-TIME-1
@pytest.mark.parametrize("chunk", range(8))
def test_every_zone_shows_what_zoneinfo_shows_before_and_after_each_of_its_changes(chunk):
    for name in sorted(zone_names())[chunk::8]:
        judge, ours = ZoneInfo(name), zone(name)
        starts = [EPOCH + timedelta(seconds=s) for s in ours.starts[1:]]
        spots = [s + timedelta(seconds=d) for s in starts for d in (-1, 0, 1)]
        spots += [EARLIEST + n * timedelta(days=97, hours=5) for n in range(1130)]
        for spot in spots:
            if EARLIEST <= spot < LATEST:
                expected = spot.astimezone(judge).utcoffset()
                assert ours.offset_at(int((spot - EPOCH).total_seconds())) == expected.total_seconds(), (
                    name,
                    spot,
                )


# R-TIME-4
def test_no_gap_or_fold_of_any_zone_reaches_past_the_neighbouring_change():
    """What `wallclock.py` relies on: no wall time occurs three times, or is both skipped and repeated."""
    first, last = (int((e - EPOCH).total_seconds()) for e in (EARLIEST, LATEST))
    for name in zone_names():
        ours = zone(name)
        changes = [
            (start, after - before)
            for start, (before, after) in zip(ours.starts[1:], pairwise(ours.offsets), strict=True)
            if first <= start < last
        ]
        assert all(change for _, change in changes)
        for (start, change), (following, its_change) in pairwise(changes):
            assert following - start > abs(change) + abs(its_change), name


def test_only_names_of_the_list_are_zones():
    assert len(zone_names()) > 500
    assert all(n == "UTC" or "/" in n for n in zone_names())
    assert {"America/New_York", "Etc/GMT+5", "US/Eastern", "UTC"} <= zone_names()


@pytest.mark.parametrize(
    ("name", "code", "advice"),
    [
        ("EST", "ambiguous_zone", "America/New_York or Etc/GMT+5"),
        ("CET", "ambiguous_zone", "Europe/Berlin"),
        ("IST", "ambiguous_zone", "Asia/Kolkata"),
        ("PST", "ambiguous_zone", "America/Los_Angeles"),
        ("EST5EDT", "ambiguous_zone", "America/New_York"),
        ("HST", "ambiguous_zone", "Pacific/Honolulu"),
        ("MST", "ambiguous_zone", "America/Denver"),
        ("GMT", "ambiguous_zone", "UTC"),
        ("GMT+5", "unknown_zone", "Etc/GMT+5"),
        ("+05:30", "unknown_zone", "offset"),
        ("UTC+1", "unknown_zone", "offset"),
        ("Factory", "unknown_zone", "Europe/Berlin"),
        ("localtime", "unknown_zone", "Europe/Berlin"),
        ("local", "unknown_zone", "Europe/Berlin"),
        ("posixrules", "unknown_zone", "Europe/Berlin"),
        ("right/Europe/Berlin", "unknown_zone", "use Europe/Berlin"),
        ("europe/berlin", "unknown_zone", "did you mean Europe/Berlin?"),
        ("EUROPE/BERLIN", "unknown_zone", "did you mean Europe/Berlin?"),
        ("utc", "unknown_zone", "did you mean UTC?"),
        ("New York", "unknown_zone", "did you mean America/New_York?"),
        ("Berlin", "unknown_zone", "did you mean Europe/Berlin?"),
        ("Europe/Berlim", "unknown_zone", "did you mean Europe/Berlin?"),
        ("Japan", "unknown_zone", "Asia/Tokyo"),
        (" Europe/Berlin", "unknown_zone", "did you mean Europe/Berlin?"),
        ("Europe/Berlin\x00", "unknown_zone", "\\u0000"),
        ("Еurope/Berlin", "unknown_zone", "\\u0415"),  # a Cyrillic Е
        ("../../etc/passwd", "unknown_zone", "Europe/Berlin"),
        ("/usr/share/zoneinfo/UTC", "unknown_zone", "UTC"),
        ("tzdata.zi", "unknown_zone", ""),
        ("Europe/", "unknown_zone", ""),
        ("", "unknown_zone", "Europe/Berlin"),
        ("x" * 1_000_000, "unknown_zone", "Europe/Berlin"),
        (None, "bad_zone", "Europe/Berlin"),
        (5, "bad_zone", "Europe/Berlin"),
        (["UTC"], "bad_zone", "Europe/Berlin"),
    ],
)
def test_other_names_are_refused_with_the_right_one(name, code, advice):
    with pytest.raises(SpecError) as refused:
        zone(name)
    assert refused.value.code == code
    assert advice in refused.value.message
    assert refused.value.field == "timezone"
    assert len(refused.value.message) < 200


def test_old_names_are_accepted_and_their_present_one_is_known():
    assert zone("US/Eastern").offsets == zone("America/New_York").offsets
    assert old_names()["US/Eastern"] == "America/New_York"
    assert old_names()["Asia/Calcutta"] == "Asia/Kolkata"
    assert "Europe/Stockholm" not in old_names()
    assert set(old_names()) <= zone_names()
    assert not set(old_names()) & set(old_names().values())


def test_rules_are_those_of_the_pinned_package_whatever_the_system_has():
    """Since November 2026 Vancouver stays on UTC-7, which the system's older rules don't know."""
    assert TZDATA_VERSION >= "2026f"
    winter = int(datetime(2027, 1, 15, tzinfo=UTC).timestamp())
    assert zone("America/Vancouver").offset_at(winter) == -7 * 3600


def test_a_zone_is_one_object_also_after_a_journey_through_pickle():
    assert zone("Europe/Berlin") is zone("Europe/Berlin")
    assert pickle.loads(pickle.dumps(zone("Europe/Berlin"))) is zone("Europe/Berlin")
    assert repr(zone("UTC")) == "zone('UTC')"
    assert zones.TZDATA_VERSION == TZDATA_VERSION
