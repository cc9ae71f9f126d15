"""Declares the schedules of an app: what its code says is made so, and what it no longer says is left alone.

Every process of an app does it when it starts, several at once. What is as it was costs one read for all of it; one
schedule that is refused doesn't keep the others from their places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from detent.commands.schedules import Actor, Commands, Conflict, NotFound, declaration
from detent.domain.errors import DetentError
from detent.store import schedules

Specs = Mapping[str, Mapping[str, object]]


@dataclass(slots=True)
class Declared:
    """What became of them, by name."""

    changed: list[str] = field(default_factory=list)
    """Made, or edited."""
    unchanged: list[str] = field(default_factory=list)
    refused: dict[str, DetentError] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    """Declared by this app before, and not in its code any more."""


async def declare_all(commands: Commands, specs: Specs, actor: Actor, *, origin: str) -> Declared:
    tenant = await schedules.tenant(commands.connection, actor.tenant)
    if tenant is None:
        raise NotFound(f'there is no tenant "{actor.tenant}"')
    known = await schedules.declared_by(commands.connection, tenant.id, origin)
    done = Declared(left=sorted(known.keys() - specs.keys()))
    for name, spec in specs.items():
        try:
            changed = known.get(name) != declaration(spec) and await _declare(commands, spec, actor, origin)
        except DetentError as error:
            done.refused[name] = error
        else:
            (done.changed if changed else done.unchanged).append(name)
    return done


async def _declare(commands: Commands, spec: Mapping[str, object], actor: Actor, origin: str) -> bool:
    try:
        return await commands.declare(spec, actor, origin=origin)
    except Conflict:  # another process of the app made it just now; if it wasn't one, this says so
        return await commands.declare(spec, actor, origin=origin)
