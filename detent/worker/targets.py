"""The targets of a worker: the tasks of its apps, and what else its settings let it do."""

from __future__ import annotations

from collections.abc import Mapping

from detent import clock
from detent.clock import DatabaseClock
from detent.commands.signing import SIGNING, VALUE, owner_of
from detent.domain.http.spec import HTTP
from detent.domain.need import TASK
from detent.node.node import Node
from detent.sealing import Keyring
from detent.store import secrets
from detent.targets.http.client import Client
from detent.targets.http.keys import KeyCache, Keys
from detent.targets.http.target import HttpTarget
from detent.targets.target import Target
from detent.targets.task import Task, TaskTarget


def targets_of(
    node: Node, tasks: Mapping[str, Task], time: DatabaseClock, *, places: int
) -> dict[str, Target]:
    """Without a key for secrets nothing can be signed: such firings are left to workers that have it."""
    found: dict[str, Target] = {TASK: TaskTarget(tasks, places=places)}
    keyring = node.settings.keyring
    if keyring is not None:
        keys = KeyCache(lambda tenant_id: _fetch(node, keyring, tenant_id))
        client = Client(node.settings.reach)
        found[HTTP] = HttpTarget(client, keys, lambda: clock.monotonic() + time.offset)
    return found


async def _fetch(node: Node, keyring: Keyring, tenant_id: int) -> Keys:
    async with node.pool.acquire() as connection:
        live = await secrets.live_secrets(connection, tenant_id)
    opened = [(one, keyring.open(one.sealed, owner_of(tenant_id, one.kind, one.name))) for one in live]
    return Keys(
        signing=tuple(secret for one, secret in opened if one.kind == SIGNING),
        values={one.name: secret.decode() for one, secret in opened if one.kind == VALUE},
    )
