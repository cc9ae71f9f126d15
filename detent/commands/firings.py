"""Cancel, rerun, replay, discard: the verbs of a firing. A firing is asked for by its id, `f_…`.

Whoever deletes the row owns the decision here, too: a worker that claims what a person cancels, two persons who replay
the same dead letter. Who comes second is told where the firing is instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from detent.commands.schedules import Actor, Conflict, NotFound
from detent.commands.window import promise_once
from detent.domain.identity import firing_id, firing_key
from detent.domain.plan import Kind
from detent.store import firings, planning, schedules
from detent.store.firings import Key, Letter
from detent.store.pool import Connection

MOST: Final = 1_000
"""Firings of one command: a transaction of a tenth of a second."""
_WORDS: Final = 500
_INSTEAD: Final = {
    "dead": "is dead: replay it, or discard it",
    "over": "is over",
    "moving": "changes hands all the time: try again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Firings:
    """The verbs, on one connection. Each opens its own transaction."""

    connection: Connection

    async def cancel(self, firing: str, actor: Actor) -> bool:
        """True: it waited, and is over. False: it runs, and its worker is asked to end it. It isn't tried again."""
        key = Key(*firing_key(firing))
        async with self.connection.transaction():
            tenant = await self._tenant(actor)
            if await firings.find_firing(self.connection, tenant, key) is None:
                raise _unknown(firing)
            said = await firings.cancel(self.connection, key, words_of(actor))
        if said in _INSTEAD:
            raise Conflict(f"{firing} {_INSTEAD[said]}")
        return said == "ended"

    async def rerun(self, firing: str, actor: Actor) -> str:
        """A new firing for the slot of one that is over, with a key of its own. Returns its id."""
        key = Key(*firing_key(firing))
        async with self.connection.transaction():
            tenant = await self._tenant(actor)
            found = await firings.find_firing(self.connection, tenant, key)
            if found is None:
                raise _unknown(firing)
            if not found.concluded:
                raise Conflict(f"{firing} is not over: cancel it, or replay it if it is dead")
            stored = found.name and await schedules.lock_schedule(self.connection, tenant, found.name)
            if not stored or stored.id != key.schedule_id:
                raise Conflict(f"the schedule of {firing} was deleted")
            as_of = await planning.now(self.connection)
            at = await promise_once(
                self.connection, stored.id, as_of, Kind.RERUN, slot_at=found.slot_at
            )  # fmt: skip
            return firing_id(stored.id, at)

    async def replay(self, dead: Sequence[str], actor: Actor) -> list[str]:
        """Dead firings are tried once more: the same keys, the next attempts. Those that were dead, and are not now."""
        keys = _keys(dead)
        async with self.connection.transaction():
            tenant = await self._tenant(actor)
            done = await firings.replay(self.connection, tenant, keys) if keys else []
            if done:
                await schedules.notify(self.connection, "")
        return [firing_id(*key) for key in done]

    async def discard(self, dead: Sequence[str], actor: Actor) -> list[str]:
        """Dead firings are given up. Those that were dead, and are over now."""
        keys = _keys(dead)
        async with self.connection.transaction():
            tenant = await self._tenant(actor)
            done = await firings.discard(self.connection, tenant, keys, words_of(actor)) if keys else []
        return [firing_id(*key) for key in done]

    async def dead(
        self, actor: Actor, *, schedule_id: int | None = None, after: Letter | None = None, limit: int = MOST
    ) -> list[Letter]:
        """The dead letters, the oldest first; the next page comes after the last letter of this one."""
        tenant = await self._tenant(actor)
        return await firings.dead_letters(self.connection, tenant, schedule_id, after, min(limit, MOST))

    async def _tenant(self, actor: Actor) -> int:
        tenant = await schedules.tenant(self.connection, actor.tenant)
        if tenant is None:
            raise NotFound(f'there is no tenant "{actor.tenant}"')
        return tenant.id


def words_of(actor: Actor) -> str:
    """Who wants it and why, for the record."""
    return (f"{actor.by}: {actor.reason}" if actor.reason else actor.by)[:_WORDS]


def _keys(ids: Sequence[str]) -> list[Key]:
    if len(ids) > MOST:
        raise Conflict(f"at most {MOST} at once, and these are {len(ids)}")
    return [Key(*key) for key in dict.fromkeys(firing_key(one) for one in ids)]


def _unknown(firing: str) -> NotFound:
    return NotFound(f"there is no firing {firing}")
