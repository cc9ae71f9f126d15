"""Mutations: defects as somebody might make them, one at a time. The simulation is worth its name if it finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any
from unittest.mock import patch

from detent.store.statements import statement
from tests.sim.server import Server

_FUNCTIONS = files("detent.store") / "functions"
Change = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """Texts that are replaced in functions and statements of the database, or names in modules."""

    says: str
    seeds: tuple[int, ...] = ()
    """Known to notice it."""
    functions: Mapping[str, list[Change]] = field(default_factory=dict)
    statements: Mapping[str, list[Change]] = field(default_factory=dict)
    python: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def planted(server: Server, mutation: Mutation) -> Iterator[None]:
    """The server has that defect until it ends."""
    with ExitStack() as stack:
        for name, changes in mutation.functions.items():
            text = (_FUNCTIONS / f"{name}.sql").read_text("utf-8")
            server.ask(server.watcher.execute(_changed(text, changes)))
            stack.callback(lambda text=text: server.ask(server.watcher.execute(text)))
        for name, changes in mutation.statements.items():
            server.instead[statement(name)] = _changed(statement(name), changes)
        stack.callback(server.instead.clear)
        for name, value in mutation.python.items():
            stack.enter_context(patch(name, value))
        yield


def _changed(text: str, changes: list[Change]) -> str:
    for old, new in changes:
        assert old in text, f"the text has changed, and this mutation must follow: {old}"
        text = text.replace(old, new)
    return text


async def _nothing(*_: Any, **__: Any) -> None:
    """What should be done is not done."""


async def _none(*_: Any) -> list[Any]:
    return []


async def _as_it_was(_: Any, stored: Any, until: Any) -> Any:
    return stored._replace(next_at=None if stored.next_at is None else max(stored.next_at, until))


MUTATIONS = [
    Mutation(
        says="a fence that doesn't lock",
        functions={"plan_v1": [("for share of s", "")]},
    ),
    Mutation(
        says="a planner that doesn't look whether the timer still stands where it was seen",
        functions={
            "plan_v1": [("and t.next_at = seen.at and t.revision = seen.revision and t.active", "")],
        },
    ),
    Mutation(
        says="a conclusion that doesn't look at the volley",
        functions={
            "conclude_v1": [("r.volley = d.volley", "r.node is not null")],
            "succeed_v1": [("and r.volley = d.volley", "")],
        },
    ),
    Mutation(
        says="a conclusion that doesn't delete the running row first",
        functions={
            "succeed_v1": [
                ("delete from detent.running r\n    using", "update detent.running r set cancel = null from")
            ]
        },
    ),
    Mutation(
        says="a claim that deletes what it was refused",
        functions={
            "claim_v1": [
                (
                    "where w.ctid = a.place and a.seat is null and a.takes is not null",
                    "where w.ctid = a.place and a.seat is null",
                ),
                (
                    "from fresh f\n        order by",
                    "from fresh f where f.takes is not null\n        order by",
                ),
            ]
        },
    ),
    Mutation(
        says="a claim that doesn't look at the lease",
        functions={
            "claim_v1": [
                (
                    "perform from detent.node n where n.id = in_node and n.lease_expires_at > as_of for key share;",
                    "perform 1;",
                )
            ]
        },
    ),
    Mutation(
        says="a claim that looks at the lease, and doesn't lock it",
        functions={"claim_v1": [(" for key share;", ";")]},
    ),
    Mutation(
        says="withdrawal by deletion",
        statements={
            "hold": [
                (
                    "update detent.waiting set held = case when $3::timestamptz is null or due_at < $3 then $2 end",
                    "delete from detent.waiting",
                ),
                (
                    "held is distinct from case when $3::timestamptz is null or due_at < $3 then $2 end",
                    "($3::timestamptz is null or due_at < $3) and $2::text is not null",
                ),
            ]
        },
    ),
    Mutation(
        says="a pause that withholds nothing",
        statements={"hold": [("where schedule_id = $1", "where schedule_id = $1 and false")]},
    ),
    Mutation(
        says="what comes back doesn't look whether its schedule is paused",
        functions={
            "place_v1": [("case when s.status in ('paused', 'deleted') then s.status end", "null::text")]
        },
    ),
    Mutation(
        says="a take-over without a new epoch",
        statements={"take_shards": [("epoch = s.epoch + 1", "epoch = s.epoch")]},
    ),
    Mutation(
        says="claims under a cap that don't take turns",
        python={"detent.store.claiming.lock_caps": _nothing},
    ),
    Mutation(
        says="nobody looks for claims whose answer was lost",
        python={"detent.worker.claimer.Claimer._reconcile": _nothing},
    ),
    Mutation(
        says="results of others are taken for commits of our own",
        statements={"own_facts": [("and a.outcome = f.outcome", "")]},
    ),
    Mutation(
        says="own commits are taken for stale",
        statements={"own_facts": [("and a.volley = f.volley", "and a.volley < 0")]},
    ),
    Mutation(
        says="commands don't account for the past",
        python={"detent.commands.schedules.account_for_the_past": _as_it_was},
    ),
    Mutation(
        says="firings begin when they are claimed",
        python={"detent.worker.release.Release.deliver": lambda self, firings: self._start(firings)},
    ),
    Mutation(
        says="the heirs of a dead node let its firings lie",
        python={"detent.node.reaper.concluding.orphans": _none},
    ),
    Mutation(
        says="nobody is woken",
        functions={"wake_v1": [("begin\n", "begin return 0;\n")]},
    ),
    Mutation(
        says="tokens that don't come from a sequence",
        functions={
            "claim_v1": [
                ("nextval('detent.volley')", "(extract(epoch from claimed_at) * 1000)::bigint % 5000")
            ]
        },
    ),
    Mutation(
        says="what comes back doesn't wait for a pause that is being made",
        functions={"place_v1": [("where s.id = in_schedule for share;", "where s.id = in_schedule;")]},
    ),
    Mutation(
        says="a burial that doesn't lock its node",
        statements={"expired_node": [("\nfor update skip locked", "")]},
    ),
    Mutation(
        says="parking that doesn't lock what it saw, and nobody who looks again",
        functions={"overlap_v1": [("\n    for no key update skip locked", "")]},
        statements={"wake_forgotten": [("select detent.wake_v1(", "select 0 + 0 * cardinality(")]},
    ),
    Mutation(
        says="a retry that gives up its seat",
        functions={"conclude_v1": [("p.seats, g.seat, p.needs", "p.seats, null, p.needs")]},
    ),
    Mutation(
        says="edits that leave what waits as it was",
        statements={"hold_but": [("where schedule_id = $1", "where schedule_id = $1 and false")]},
    ),
    Mutation(
        says="a planner that forgets excluded slots",
        python={"detent.domain.plan.excluded": lambda *_: iter(())},
    ),
]
