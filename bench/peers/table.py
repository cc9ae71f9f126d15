"""What was measured, a row for each contender: as a table in Markdown, or as JSON."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.peers.contenders import RATE, Contender
from bench.peers.peer import Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    heading: str
    """Its column; `{n}` is how many."""
    figures: tuple[str, ...]
    """Which of the figures the table shows: the median of the rounds."""
    said: Callable[[float], str]
    n: int
    rounds: int
    """By default. What goes on for minutes averages over itself."""


def _in_hundreds(rate: float) -> str:
    return f"{round(rate, -2):,.0f}"


def _in_tenths(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.1f}"


def _in_hundredths(seconds: float) -> str:
    return f"{seconds:.2f}"


_CEILING: Final = "ceiling_per_s"

MEASURES: Final[Mapping[str, Measure]] = {
    "drain": Measure(
        heading="{n} due now, 1 process: jobs/s", figures=("firings_per_s",), said=_in_hundreds, n=50_000, rounds=3
    ),
    "drain_2": Measure(
        heading="2 processes: jobs/s", figures=("firings_per_s",), said=_in_hundreds, n=50_000, rounds=3
    ),
    "lag": Measure(
        heading=f"lag at {RATE}/s, p50 / p99: ms", figures=("p50_ms", "p99_ms"), said=_in_tenths, n=4_000, rounds=1
    ),
    "burst": Measure(
        heading="{n} at one instant, 50 / 99 % began: s", figures=("p50_s", "p99_s"), said=_in_hundredths,
        n=20_000, rounds=3,
    ),
    "cron": Measure(
        heading="{n} every-minute schedules, p50 / p99: s", figures=("p50_s", "p99_s"), said=_in_hundredths,
        n=1_000, rounds=1,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    contender: Contender
    results: dict[str, list[Figures]] = field(default_factory=lambda: defaultdict(list))
    """By measure, one a round."""
    failures: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> Figures:
        told: Figures = {"contender": self.contender.key, "name": self.contender.name.strip("*")}
        told["keeps"] = self.contender.keeps
        for measure, rounds in self.results.items():
            told[measure] = {
                **{name: _median(rounds, name) for name in MEASURES[measure].figures}, "rounds": rounds,
            }  # fmt: skip
        return told | ({"failures": self.failures} if self.failures else {})

    def cell(self, key: str) -> str:
        measure = MEASURES[key]
        if key in self.failures:
            return "failed"
        if not (rounds := self.results.get(key)):
            return ""
        said = " / ".join(measure.said(_median(rounds, name)) for name in measure.figures)
        dropped = sum(_number(one.get("dropped", 0)) for one in rounds)
        return f"{said}, {dropped:,.0f} dropped" if dropped else said


def markdown(rows: Sequence[Row], asked: Mapping[str, int]) -> str:
    """`asked`: the measures, and how many in each."""
    headings = ["", *(MEASURES[key].heading.format(n=f"{n:,}") for key, n in asked.items()), "keeps"]
    lines = [headings, ["---"] * len(headings)]
    lines += [[row.contender.name, *map(row.cell, asked), row.contender.keeps] for row in rows]
    lines += _ceiling(rows, asked)
    table = ["| " + " | ".join(cells) + " |" for cells in lines]
    notes = [f"- {row.contender.name}, {key}: {said}" for row in rows for key, said in row.failures.items()]
    return "\n".join([*table, *([""] if notes else []), *notes])


def _ceiling(rows: Sequence[Row], asked: Mapping[str, int]) -> list[list[str]]:
    """What Detent's own benchmark measures beside itself."""
    rounds = [one for row in rows for one in row.results.get("drain", ()) if _CEILING in one]
    if not rounds:
        return []
    cells = [_in_hundreds(_median(rounds, _CEILING)) if key == "drain" else "" for key in asked]
    return [["*bare PostgreSQL, append-only, one connection*", *cells, "*a row a job; no scheduler*"]]


def _median(rounds: Sequence[Figures], name: str) -> float:
    return statistics.median(_number(one[name]) for one in rounds)


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return value
