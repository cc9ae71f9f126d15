"""What keeps secrets, and a tenant's first signing secret."""

from __future__ import annotations

import os
from typing import Final

from detent.sealing import Keyring, SealError
from detent.settings import Settings
from detent.store import secrets
from detent.store.pool import Connection

SIGNING: Final = "signing"
VALUE: Final = "value"
_BYTES: Final = 32


def keyring_of(settings: Settings) -> Keyring:
    found = settings.keyring
    if found is None:
        raise SealError(
            "requests are signed, and there is no key to keep their secrets under: set DETENT_SECRET_KEY"
            " (`detent secrets key` makes one)"
        )
    return found


def owner_of(tenant_id: int, kind: str, name: str) -> str:
    """What a sealed secret is tied to."""
    return f"{tenant_id}/{kind}/{name}"


async def ensure_signing(connection: Connection, keys: Keyring, tenant_id: int) -> None:
    """A tenant's first one is made when it is needed first."""
    sealed = keys.seal(new_signing_secret(), owner_of(tenant_id, SIGNING, SIGNING))
    await secrets.insert_secret(connection, tenant_id, SIGNING, SIGNING, sealed)


def new_signing_secret() -> bytes:
    return os.urandom(_BYTES)
