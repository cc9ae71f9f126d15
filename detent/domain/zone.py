"""Time zones: which names are accepted, and what a wall clock there shows.

The rules come from the pinned `tzdata` package alone, never from the system, so that every node computes the
same slots. The package is a constant of this program like an imported module, hence reading it here is no IO
in the sense of `style.md`.

A zone is a list of *spans*: from `starts[i]` until `starts[i + 1]` (seconds since 1970) its wall clock is ahead
of UTC by `offsets[i]`. Where the next offset is larger, wall times are skipped (a gap); where it is smaller, they
are repeated (a fold). Wall times are whole seconds since 1970-01-01 00:00 on the wall.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Final

import tzdata

from detent.domain.errors import SpecError, quoted
from detent.domain.tzif import read_tzif

TZDATA_VERSION: Final[str] = tzdata.IANA_VERSION

_AREAS: Final = frozenset(
    {"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Brazil", "Canada"}
    | {"Chile", "Etc", "Europe", "Indian", "Mexico", "Pacific", "US"}
)
_MAX_NAME: Final = 64
_ABBREVIATIONS: Final[Mapping[str, str]] = {
    "EST": "America/New_York or Etc/GMT+5",
    "EDT": "America/New_York",
    "EST5EDT": "America/New_York",
    "CST": "America/Chicago, Asia/Shanghai or America/Havana",
    "CDT": "America/Chicago",
    "CST6CDT": "America/Chicago",
    "MST": "America/Denver, America/Phoenix or Etc/GMT+7",
    "MDT": "America/Denver",
    "MST7MDT": "America/Denver",
    "PST": "America/Los_Angeles or Asia/Manila",
    "PDT": "America/Los_Angeles",
    "PST8PDT": "America/Los_Angeles",
    "HST": "Pacific/Honolulu",
    "AKST": "America/Anchorage",
    "AST": "America/Halifax or Asia/Riyadh",
    "NST": "America/St_Johns",
    "BST": "Europe/London or Asia/Dhaka",
    "IST": "Asia/Kolkata, Europe/Dublin or Asia/Jerusalem",
    "GMT": "UTC, Etc/GMT or Europe/London",
    "WET": "Europe/Lisbon",
    "CET": "Europe/Berlin or Etc/GMT-1",
    "CEST": "Europe/Berlin",
    "MET": "Europe/Brussels",
    "EET": "Europe/Athens or Etc/GMT-2",
    "MSK": "Europe/Moscow",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "SGT": "Asia/Singapore",
    "HKT": "Asia/Hong_Kong",
    "AEST": "Australia/Sydney or Australia/Brisbane",
    "ACST": "Australia/Adelaide or Australia/Darwin",
    "AWST": "Australia/Perth",
    "NZST": "Pacific/Auckland",
    "Z": "UTC",
    "ZULU": "UTC",
    "UCT": "UTC",
    "UNIVERSAL": "UTC",
    "GREENWICH": "UTC or Europe/London",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Zone:
    """One zone. Made by `zone()`, once a name, so identity is equality."""

    name: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]

    def span_at(self, second: int) -> int:
        return bisect_right(self.starts, second) - 1

    def end_of(self, span: int) -> int:
        return self.starts[span + 1] if span + 1 < len(self.starts) else 1 << 62

    def offset_at(self, second: int) -> int:
        return self.offsets[bisect_right(self.starts, second) - 1]

    def __reduce__(self) -> tuple[object, ...]:
        return zone, (self.name,)

    def __repr__(self) -> str:
        return f"zone({self.name!r})"


def zone(name: object, field: str = "timezone") -> Zone:
    """The zone of that exact name, or an error that says which name was meant."""
    if isinstance(name, str) and name in zone_names():
        return _load(name)
    raise _refused(name, field)


def given_zone(given: Mapping[str, object], default: Zone) -> Zone:
    """Of an object that has a `timezone`, or its alias `tz`, or neither."""
    if "tz" in given and "timezone" in given:
        raise SpecError("tz and timezone are the same: give one", code="conflict", field="tz")
    key = "tz" if "tz" in given else "timezone"
    return zone(given[key], key) if key in given else default


@cache
def zone_names() -> frozenset[str]:
    """The explicit list: Area/City names of the tzdata package, and UTC. No abbreviations, no POSIX rules."""
    every = files("tzdata").joinpath("zones").read_text("ascii").split()
    return frozenset(name for name in every if name.partition("/")[0] in _AREAS and "/" in name) | {"UTC"}


@cache
def old_names() -> Mapping[str, str]:
    """Accepted names that are links from former times, and what they are called now."""
    current = {
        line.split("\t")[2] for line in _text("zone.tab").splitlines() if line and not line.startswith("#")
    }
    return {
        name: _links()[name]
        for name in zone_names() & _links().keys()
        if name not in current and name != "UTC" and not name.startswith("Etc/")
    }


@cache
def _links() -> Mapping[str, str]:
    """Every name that stands for another zone, however many links away."""
    lines = (line.split() for line in _text("tzdata.zi").splitlines() if line.startswith("L "))
    links = {new: old for _, old, new in lines}
    for name, target in links.items():
        end = target
        while end in links:
            end = links[end]
        links[name] = end
    return links


@cache
def _load(name: str) -> Zone:
    return read(name)


def read(name: str) -> Zone:
    """Read anew, for who looks at all of them once: together they take 30 MB."""
    shifts = read_tzif(_TZDATA.joinpath(*name.split("/")).read_bytes())
    return Zone(name, tuple(s.at for s in shifts), tuple(s.offset for s in shifts))


def _text(name: str) -> str:
    return _TZDATA.joinpath(name).read_text("utf-8")


_TZDATA: Final = files("tzdata").joinpath("zoneinfo")


def _refused(name: object, field: str) -> SpecError:
    if not isinstance(name, str):
        return SpecError("a zone is a text such as Europe/Berlin or UTC", code="bad_zone", field=field)
    right = _ABBREVIATIONS.get(name.upper()) if len(name) <= _MAX_NAME else None
    if right is not None:
        message = f"{quoted(name)} is ambiguous: use {right}"
        return SpecError(message, code="ambiguous_zone", field=field, token=name)
    message = f"{quoted(name)} is no zone: {_advice(name)}"
    return SpecError(message, code="unknown_zone", field=field, token=name[:_MAX_NAME])


def _advice(name: str) -> str:
    if not name:
        return "use a name such as Europe/Berlin, or UTC"
    if len(name) > _MAX_NAME or not name.isascii():
        return "use a name of the IANA list, such as Europe/Berlin, or UTC"
    if name in _links():
        return f"use {_links()[name]}"
    if any(c.isdigit() for c in name) and "/" not in name:
        return "offsets know no daylight saving; use a name such as Europe/Berlin, or Etc/GMT+5 for UTC-5"
    if name.startswith(("right/", "posix/")):
        return f"use {name.partition('/')[2] or 'a name such as Europe/Berlin'}"
    near = _nearest(name)
    return f"did you mean {near}?" if near else "use a name such as Europe/Berlin, or UTC"


def _nearest(name: str) -> str | None:
    folded = name.casefold().replace(" ", "_").strip("_")
    exact = _by_folded_name().get(folded) or _by_folded_name().get(folded.rpartition("/")[2])
    if exact:
        return exact
    initials = folded[: folded.rfind("/") + 2]  # comparing with all 600 names would take a millisecond
    likely = [n for n in _by_folded_name() if n.startswith(initials)]
    near = get_close_matches(folded, likely, n=1, cutoff=0.8)
    return _by_folded_name()[near[0]] if near else None


@cache
def _by_folded_name() -> Mapping[str, str]:
    """Accepted names by their lower-case form, and by their city alone."""
    names = sorted(zone_names())
    cities = {n.rpartition("/")[2].casefold(): n for n in names if not n.startswith("Etc/")}
    return cities | {n.casefold(): n for n in names}
