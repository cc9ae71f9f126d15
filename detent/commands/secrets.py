"""The secrets of a tenant: what signs its requests, and what their headers refer to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from detent.commands.schedules import Actor, Conflict, NotFound
from detent.commands.signing import SIGNING, VALUE, ensure_signing, keyring_of, new_signing_secret, owner_of
from detent.domain.errors import SpecError, quoted
from detent.domain.http.signature import format_secret, parse_secret
from detent.sealing import Keyring
from detent.settings import Settings
from detent.store import planning, schedules, secrets
from detent.store.pool import Connection
from detent.store.secrets import Named

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_MOST: Final = 8 * 1024
"""Bytes of a value: it has to fit into the headers of a request."""
_BATCH: Final = 500
OVERLAP: Final = timedelta(days=1)
"""How long the old signing secret still signs, beside the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """The verbs, on one connection. Each opens its own transaction."""

    connection: Connection
    settings: Settings

    async def signing(self, actor: Actor) -> list[str]:
        """What signs, the newest first, in the form that receivers take. Made, if there is none yet."""
        async with self.connection.transaction():
            tenant_id = await self._tenant(actor)
            await ensure_signing(self.connection, self._keyring, tenant_id)
            live = await secrets.live_secrets(self.connection, tenant_id)
            owner = owner_of(tenant_id, SIGNING, SIGNING)
            return [
                format_secret(self._keyring.open(one.sealed, owner)) for one in live if one.kind == SIGNING
            ]

    async def rotate_signing(
        self, actor: Actor, *, overlap: timedelta = OVERLAP, secret: str | None = None
    ) -> tuple[str, datetime]:
        """A new signing secret; the old one signs beside it until that instant. One that is given is used."""
        async with self.connection.transaction():
            tenant_id = await self._tenant(actor)
            retires_at: datetime = await planning.now(self.connection) + overlap
            await secrets.retire_signing(self.connection, tenant_id, retires_at)
            made = parse_secret(secret) if secret is not None else new_signing_secret()
            sealed = self._keyring.seal(made, owner_of(tenant_id, SIGNING, SIGNING))
            if not await secrets.insert_secret(self.connection, tenant_id, SIGNING, SIGNING, sealed):
                raise Conflict("the signing secret was rotated by somebody else just now")
            return format_secret(made), retires_at

    async def put(self, name: str, value: str, actor: Actor) -> None:
        """A value that headers may refer to; one of that name is replaced."""
        _refuse_bad(name, value)
        async with self.connection.transaction():
            tenant_id = await self._tenant(actor)
            sealed = self._keyring.seal(value.encode(), owner_of(tenant_id, VALUE, name))
            await secrets.replace_secret(self.connection, tenant_id, name, sealed)

    async def remove(self, name: str, actor: Actor) -> None:
        async with self.connection.transaction():
            tenant_id = await self._tenant(actor)
            if not await secrets.delete_secret(self.connection, tenant_id, name):
                raise NotFound(f'there is no secret "{name}"')

    async def names(self, actor: Actor) -> list[Named]:
        return await secrets.named_secrets(self.connection, await self._tenant(actor))

    async def rewrap(self) -> int:
        """All secrets of all tenants under the first key of the settings. How many were not."""
        done = 0
        while True:
            async with self.connection.transaction():
                found = await secrets.sealed_otherwise(self.connection, self._keyring.first, _BATCH)
                if not found:
                    return done
                anew = [
                    (
                        one.id,
                        self._keyring.rewrap(one.sealed, owner_of(one.tenant_id, one.kind, one.name)).data,
                    )
                    for one in found
                ]
                await secrets.reseal(self.connection, self._keyring.first, anew)
                done += len(found)

    @property
    def _keyring(self) -> Keyring:
        return keyring_of(self.settings)

    async def _tenant(self, actor: Actor) -> int:
        tenant = await schedules.tenant(self.connection, actor.tenant)
        if tenant is None:
            raise NotFound(f'there is no tenant "{actor.tenant}"')
        return tenant.id


def _refuse_bad(name: str, value: str) -> None:
    if not _NAME.fullmatch(name):
        raise SpecError(
            f"{quoted(name)} is no name of a secret: a letter, then up to 62 of a-z, 0-9 and _",
            code="bad_name", field="name", token=name[:40],
        )  # fmt: skip
    if (
        not 0 < len(value) <= _MOST
        or not value.isascii()
        or not value.isprintable()
        or value != value.strip()
    ):
        raise SpecError(
            f"a secret is 1 to {_MOST >> 10} KiB of visible ASCII, without blanks at its ends",
            code="bad_secret",
            field="value",
        )
