"""Who is compared: the settings that serve each best, and what its store keeps of a job that is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import detent
from bench.peers.fetch import GRAPHILE, PG_BOSS, PGQUEUER
from bench.peers.peer import Figures, Peer
from bench.peers.program import in_javascript, in_python
from detent.bench import burst, cron, drain, lag

RATE: Final = 200
"""Jobs a second of the steady load."""

Run = Callable[[str, int], Figures]
"""On the server of this URL, with so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    key: str
    """What `--only` calls it."""
    name: str
    keeps: str
    runs: Mapping[str, Run]
    """By measure. What is missing isn't measured."""


def _detent() -> Contender:
    return Contender(
        key="detent",
        name=f"**Detent {detent.__version__}**",
        keeps="each firing and each attempt, 90 days",
        runs={
            "drain": lambda url, n: drain.drain(url, n=n, processes=1),
            "drain_2": lambda url, n: drain.drain(url, n=n, processes=2),
            "lag": lambda url, n: lag.lag(url, n=n, rate=RATE),
            "burst": lambda url, n: burst.burst(url, n=n),
            "cron": lambda url, n: cron.cron(url, n=n),
        },
    )


def _contender(key: str, name: str, keeps: str, peer: Peer, only: str = "") -> Contender:
    runs: dict[str, Run] = {
        "drain": lambda url, n: peer.drain(url, n=n, processes=1),
        "drain_2": lambda url, n: peer.drain(url, n=n, processes=2),
        "lag": lambda url, n: peer.lag(url, n=n, rate=RATE),
        "burst": lambda url, n: peer.burst(url, n=n),
        "cron": lambda url, n: peer.cron(url, n=n),
    }
    return Contender(key=key, name=name, keeps=keeps, runs={only: runs[only]} if only else runs)


def _graphile(key: str, how: str, options: Mapping[str, object], only: str = "") -> Contender:
    peer = Peer(
        program=in_javascript("graphile"),
        options=options,
        left="select exists (select from graphile_worker._private_jobs)",
    )
    keeps = "nothing: a job that is done is deleted"
    return _contender(key, f"Graphile Worker {GRAPHILE}, {how}", keeps, peer, only)


_DOCUMENTED: Final = {
    "concurrentJobs": 24, "maxPoolSize": 25,
    "localQueue": {"size": 500}, "completeJobBatchDelay": 0, "failJobBatchDelay": 0,
}  # fmt: skip
"""The preset of its page on performance. Jobs of the future are looked for every two seconds."""
_TUNED: Final = {
    "concurrentJobs": 500, "maxPoolSize": 25,
    "localQueue": {"size": 2_000}, "completeJobBatchDelay": 5, "failJobBatchDelay": 5, "pollInterval": 10,
}  # fmt: skip
_DIRECT: Final = {"concurrentJobs": 24, "maxPoolSize": 25, "pollInterval": 10}
"""The least lag, at the price of a statement for each job."""

CONTENDERS: Final = (
    _detent(),
    _graphile("graphile", "tuned beyond its documents", _TUNED),
    _graphile("graphile-direct", "tuned for lag alone", _DIRECT, "lag"),
    _graphile("graphile-documented", "as documented", _DOCUMENTED),
    _contender(
        "pg-boss", f"pg-boss {PG_BOSS}", "the job's row, 7 days",
        Peer(
            program=in_javascript("pgboss"),
            # Half a second is the least that it accepts. Two workers a process drain faster than one.
            options={
                "batchSize": 2_000, "localConcurrency": 2, "burstWhenBatchFull": True,
                "pollingIntervalSeconds": 0.5,
            },
            left="select exists (select from pgboss.job where name = 'noop' and state < 'completed')",
        ),
    ),
    _contender(
        "pgqueuer", f"PgQueuer {PGQUEUER}", "a log row for each change of a job's state",
        Peer(
            program=in_python("pgq"),
            # How often it looks for what has become due is no documented option: 100 ms.
            options={"batch_size": 1_000, "poll_seconds": 0.01},
            left="select exists (select from pgqueuer)",
        ),
    ),
)  # fmt: skip
