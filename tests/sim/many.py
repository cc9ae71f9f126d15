"""`make sim`: thousands of worlds, one after the other on each core.

    make sim                 # seeds 1 to 2,000
    make sim SEEDS=10000
    make sim SEED=1234       # this one, with every step that was taken

Prints a JSON object for each seed that fails, and one about all of them. A seed plays the same way each time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.util import Finalize
from typing import Any

from detent import clock
from detent.store.temporary import temporary_postgres
from tests import postgres
from tests.sim.database import prepare
from tests.sim.run import Report, simulate
from tests.sim.server import Server

_LAST_STEPS = 40


@contextmanager
def open_stage() -> Iterator[Server]:
    """A PostgreSQL of its own, with the simulation's database."""
    with temporary_postgres(postgres.NOT_DURABLE) as started:
        house = postgres.Server(started)
        url = house.fresh()
        house.run(prepare(url))
        server = Server(url)
        try:
            yield server
        finally:
            server.close()
            house.close()


_stage: Server


def _begin() -> None:
    """Of a process that plays: the stage is its own, and goes with it."""
    global _stage  # noqa: PLW0603
    stack = ExitStack()
    _stage = stack.enter_context(open_stage())
    Finalize(stack, stack.close, exitpriority=1)


def _play(seed: int) -> Report:
    report = simulate(_stage, seed)
    return report if report.breach else report.without_trace()


def _play_all(seeds: range) -> int:
    began, steps, runs, failed = clock.monotonic(), 0, 0, []
    context = multiprocessing.get_context("spawn")
    with context.Pool(os.cpu_count(), initializer=_begin) as pool:
        for report in pool.imap_unordered(_play, seeds):
            steps, runs = steps + report.steps, runs + report.runs
            if report.breach:
                failed.append(report.seed)
                _print({**report.as_json(), "last_steps": report.trace[-_LAST_STEPS:]})
        pool.close()
        pool.join()
    seconds = clock.monotonic() - began
    _print(
        {
            "seeds": len(seeds), "failed": sorted(failed), "steps": steps, "runs": runs,
            "seconds": round(seconds, 1), "steps_per_s": round(steps / seconds),
        }
    )  # fmt: skip
    return 1 if failed else 0


def _play_one(seed: int) -> int:
    with open_stage() as stage:
        report = simulate(stage, seed)
    print("\n".join(report.trace), file=sys.stderr)
    _print(report.as_json())
    return 1 if report.breach else 0


def _print(told: dict[str, Any]) -> None:
    print(json.dumps(told), flush=True)


def main() -> int:
    options = argparse.ArgumentParser(prog="make sim", description=__doc__)
    options.add_argument("--seed", type=int)
    options.add_argument("--seeds", type=int, default=2_000)
    options.add_argument("--first", type=int, default=1)
    given = options.parse_args()
    if given.seed is not None:
        return _play_one(given.seed)
    return _play_all(range(given.first, given.first + given.seeds))
