"""`python -m bench.peers`: prints one table, or with --json one object a row. Progress goes to stderr."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence

import asyncpg

from bench.peers.contenders import CONTENDERS, Contender
from bench.peers.table import MEASURES, Row, markdown
from detent.bench.place import durable_postgres
from detent.domain.errors import DetentError


def main() -> None:
    given = _arguments()
    keys = given.only or [contender.key for contender in CONTENDERS]
    asked = {key: given.n or MEASURES[key].n for key in given.measure or MEASURES}
    rows = measure([one for one in CONTENDERS if one.key in keys], asked, given.rounds)
    if given.json:
        for row in rows:
            print(json.dumps(row.as_json()))
    else:
        print(markdown(rows, asked))


def measure(contenders: Sequence[Contender], asked: Mapping[str, int], rounds: int | None) -> list[Row]:
    """On one server. They take turns, in the opposite order every other round."""
    rows = [Row(contender) for contender in contenders]
    with durable_postgres() as server:
        for key, n in asked.items():
            for turn in range(rounds or MEASURES[key].rounds):
                for row in rows if turn % 2 == 0 else reversed(rows):
                    _run(row, key, server.url, n)
    return rows


def _run(row: Row, key: str, url: str, n: int) -> None:
    """Who fails is said to have failed; the others go on."""
    run = row.contender.runs.get(key)
    if run is None or key in row.failures:
        return
    try:
        figures = run(url, n)
    except (DetentError, asyncpg.PostgresError, OSError, subprocess.SubprocessError) as error:
        row.failures[key] = " ".join(str(error).split())
        print(f"{key} {row.contender.key}: {row.failures[key]}", file=sys.stderr, flush=True)
        return
    row.results[key].append(figures)
    print(f"{key} {row.contender.key}: {json.dumps(figures)}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=[one.key for one in CONTENDERS],
        metavar="CONTENDER",
        help=f"may be given several times: {', '.join(one.key for one in CONTENDERS)}",
    )
    parser.add_argument(
        "--measure",
        action="append",
        choices=list(MEASURES),
        metavar="MEASURE",
        help=f"may be given several times: {', '.join(MEASURES)}",
    )
    parser.add_argument("--rounds", type=int, help="of each measure; by default 3, but 1 of lag and cron")
    parser.add_argument("--n", type=int, help="jobs or schedules of each measure, instead of its default")
    parser.add_argument("--json", action="store_true", help="one object a row")
    return parser.parse_args()  # fmt: skip


if __name__ == "__main__":
    main()
