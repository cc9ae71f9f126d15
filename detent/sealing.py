"""Secrets at rest: each is sealed with a key of its own, which is sealed with the key from the settings.

`DETENT_SECRET_KEY` holds one key or several, with commas between them: the first one seals, all of them open. To change
it, put the new one in front, run `detent secrets rewrap`, and take the old one away: only the small keys are sealed
anew, by those who need not see a secret. What is sealed is tied to whom it belongs to, so that nobody can pass one
tenant's row off as another one's.
"""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from detent.domain.errors import DetentError

_KEY_BYTES: Final = 32
_NONCE: Final = 12
_WRAPPED: Final = _NONCE + _KEY_BYTES + 16


class SealError(DetentError):
    """A secret can't be sealed, or opened, with the keys that there are."""

    code = "seal"


@dataclass(frozen=True, slots=True)
class Sealed:
    """As the database keeps it."""

    key_id: str
    """Of the key from the settings; tells nothing of it."""
    data: bytes


class Keyring:
    """The keys from the settings."""

    def __init__(self, keys: tuple[bytes, ...]) -> None:
        self._keys: Final = {_id_of(key): key for key in keys}
        self._first: Final = _id_of(keys[0])

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._keys)})"

    def seal(self, secret: bytes, owner: str) -> Sealed:
        own = AESGCM.generate_key(8 * _KEY_BYTES)
        return Sealed(self._first, self._wrap(own, owner) + _encrypted(own, secret, owner))

    def open(self, sealed: Sealed, owner: str) -> bytes:
        own = self._unwrap(sealed, owner)
        return _decrypted(own, sealed.data[_WRAPPED:], owner)

    def rewrap(self, sealed: Sealed, owner: str) -> Sealed:
        """The same secret under the first key, without opening it."""
        return Sealed(self._first, self._wrap(self._unwrap(sealed, owner), owner) + sealed.data[_WRAPPED:])

    @property
    def first(self) -> str:
        return self._first

    def _wrap(self, own: bytes, owner: str) -> bytes:
        return _encrypted(self._keys[self._first], own, owner)

    def _unwrap(self, sealed: Sealed, owner: str) -> bytes:
        key = self._keys.get(sealed.key_id)
        if key is None:
            known = ", ".join(self._keys)
            raise SealError(
                f"a secret is sealed with key {sealed.key_id}, and DETENT_SECRET_KEY has {known}: add that key"
            )
        return _decrypted(key, sealed.data[:_WRAPPED], owner)


@lru_cache(8)
def keyring(setting: str) -> Keyring:
    """Of the text of the setting."""
    return Keyring(tuple(_key(part) for part in setting.split(",")))


def new_key() -> str:
    """For DETENT_SECRET_KEY."""
    return base64.urlsafe_b64encode(os.urandom(_KEY_BYTES)).decode()


def _key(text: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), altchars=b"-_", validate=True)
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise SealError(
            f"DETENT_SECRET_KEY holds the base64 of {_KEY_BYTES} bytes: `detent secrets key` makes one"
        )
    return key


def _id_of(key: bytes) -> str:
    return hashlib.sha256(b"detent key id" + key).hexdigest()[:8]


def _encrypted(key: bytes, plain: bytes, owner: str) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, plain, owner.encode())


def _decrypted(key: bytes, data: bytes, owner: str) -> bytes:
    try:
        return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], owner.encode())
    except (InvalidTag, ValueError):
        raise SealError("a secret was changed in the database, or belongs to somebody else") from None
