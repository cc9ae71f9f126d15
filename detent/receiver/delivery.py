"""The core: a delivery is read from headers and body, or rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import unquote

from detent import clock
from detent.domain.http.signature import facts_fit, facts_of, fits, parse_secret

TOLERANCE: Final = timedelta(minutes=5)
"""How old a signature may be, and how far in the future: clocks differ."""
MAX_BODY: Final = 1024 * 1024
_MAX_SIGNATURES: Final = 2_048
_MAX_TOKEN: Final = 1 << 63
_FACTS: Final = ("fencing-token", "attempt", "scheduled-for", "catch-up", "schedule", "callback")


class Rejected(Exception):
    """It is not from who it says, or not now. Answer with that status, and do nothing."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status: Final = status
        self.reason: Final = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One attempt of a firing, as its sender signed it and says of it."""

    key: str
    """The same for every attempt of a firing: the idempotency key."""
    token: int
    """Only grows for a firing."""
    attempt: int
    schedule: str
    scheduled_for: datetime
    catch_up: bool
    callback: str | None
    """Answer 202, and tell by this URL how it went."""
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """`secrets` are those of the tenant whose schedules call, `whsec_…`."""

    def __init__(
        self, secrets: str | Sequence[str], *, tolerance: timedelta = TOLERANCE,
        now: Callable[[], float] = clock.realtime,
    ) -> None:  # fmt: skip
        each = [secrets] if isinstance(secrets, str) else secrets
        self._secrets = [parse_secret(secret) for secret in each]
        self._tolerance = tolerance.total_seconds()
        self._now = now

    def read(self, headers: Mapping[str, str], body: bytes) -> Delivery:
        """`headers` in any case."""
        given = {name.lower(): value for name, value in headers.items()}
        key, sent_at, signatures = (
            given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
        )
        if not (key and sent_at and signatures) or len(signatures) > _MAX_SIGNATURES:
            raise Rejected(401, "it is not signed")
        if not sent_at.isdigit() or len(sent_at) > 12 or abs(int(sent_at) - self._now()) > self._tolerance:
            raise Rejected(401, "its signature is too old, or the clocks differ by too much")
        if not fits(self._secrets, _bytes(key), _bytes(sent_at), body, _bytes(signatures)):
            raise Rejected(401, "its signature is by none of our secrets")
        if given.get("idempotency-key", key) != key:
            raise Rejected(400, "its keys contradict each other")
        facts = facts_of(*(_bytes(given.get(f"detent-{name}", "")) for name in _FACTS))
        if not facts_fit(
            self._secrets, _bytes(key), _bytes(sent_at), facts, _bytes(given.get("detent-signature", ""))
        ):
            raise Rejected(401, "what its headers say is not signed")
        try:
            return _delivery(key, given, body)
        except (KeyError, ValueError):
            raise Rejected(400, "its headers are not those of a firing") from None


def _delivery(key: str, given: Mapping[str, str], body: bytes) -> Delivery:
    token = int(given["detent-fencing-token"])
    if not 0 <= token < _MAX_TOKEN:
        raise ValueError(token)
    return Delivery(
        key=key,
        token=token,
        attempt=int(given["detent-attempt"]),
        schedule=unquote(given["detent-schedule"]),
        scheduled_for=datetime.fromisoformat(given["detent-scheduled-for"]),
        catch_up=given.get("detent-catch-up") == "true",
        callback=given.get("detent-callback"),
        body=body,
    )


def _bytes(text: str) -> bytes:
    return text.encode("latin-1", errors="replace")
