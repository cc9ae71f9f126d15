"""Signatures as Standard Webhooks has them: senders and receivers of any language understand each other.

`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. While a secret is rotated, two signatures stand side by
side, and one that fits is enough.

That covers the body alone. What our own headers say of the firing, its fencing token first of all, is signed by
`detent-signature` in the same way, so that nobody can send a message that he has seen under another token.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable
from typing import Final

from detent.domain.errors import SpecError

PREFIX: Final = "whsec_"
SHORTEST, LONGEST = 24, 64
"""Bytes of a secret."""
_VERSION: Final = b"v1,"


def parse_secret(text: str) -> bytes:
    """A secret as people pass it on: `whsec_` and base64."""
    try:
        secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        secret = b""
    if not SHORTEST <= len(secret) <= LONGEST:
        raise SpecError(
            f"a signing secret is {PREFIX} and the base64 of {SHORTEST} to {LONGEST} bytes",
            code="bad_secret",
            field="secret",
        )
    return secret


def format_secret(secret: bytes) -> str:
    return PREFIX + base64.b64encode(secret).decode()


def sign(secrets: Iterable[bytes], message_id: bytes, timestamp: bytes, body: bytes) -> bytes:
    """The value of `webhook-signature`: one signature a secret."""
    signed = b"%b.%b.%b" % (message_id, timestamp, body)
    return b" ".join(_signature(secret, signed) for secret in secrets)


def facts_of(
    token: bytes, attempt: bytes, scheduled_for: bytes, catch_up: bytes, schedule: bytes, callback: bytes
) -> bytes:
    """What is signed of our headers, as they are sent; a callback that isn't there is empty."""
    return b"\n".join((token, attempt, scheduled_for, catch_up, schedule, callback))


def sign_facts(secrets: Iterable[bytes], message_id: bytes, timestamp: bytes, facts: bytes) -> bytes:
    """The value of `detent-signature`. No id begins like this, so it never fits a message."""
    return sign(secrets, b"detent:%b" % message_id, timestamp, facts)


def facts_fit(
    secrets: Iterable[bytes], message_id: bytes, timestamp: bytes, facts: bytes, signatures: bytes
) -> bool:
    return fits(secrets, b"detent:%b" % message_id, timestamp, facts, signatures)


def fits(
    secrets: Iterable[bytes], message_id: bytes, timestamp: bytes, body: bytes, signatures: bytes
) -> bool:
    """Whether one of the signatures is by one of the secrets. Takes as long whatever is wrong with them."""
    signed = b"%b.%b.%b" % (message_id, timestamp, body)
    ours = [_signature(secret, signed) for secret in secrets]
    theirs = signatures.split(b" ")
    found = False
    for one in theirs:
        for other in ours:
            found |= hmac.compare_digest(one, other)
    return found


def _signature(secret: bytes, signed: bytes) -> bytes:
    return _VERSION + base64.b64encode(hmac.digest(secret, signed, "sha256"))
