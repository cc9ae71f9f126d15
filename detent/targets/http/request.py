"""The bytes of a request: what is the same for all firings of a schedule is written once."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Final
from urllib.parse import quote

from detent import __version__
from detent.domain.http.body import CONTENT_TYPES, has_templates, write_body
from detent.domain.http.headers import SECRET
from detent.domain.http.signature import facts_of, sign, sign_facts
from detent.domain.http.spec import Http, Method
from detent.domain.http.template import fill, is_template, names_in
from detent.domain.http.url import Url
from detent.domain.instant import format_instant
from detent.targets.context import Context
from detent.targets.http.keys import Keys

_VISIBLE: Final = "!\"#$&'()*+,-./:;<=>?@[]^_`{|}~\\"
_BODILESS: Final = (Method.GET, Method.HEAD)
_EACH: Final = (
    b"%b%b"
    b"Idempotency-Key: %b\r\n"
    b"webhook-id: %b\r\n"
    b"webhook-timestamp: %b\r\n"
    b"webhook-signature: %b\r\n"
    b"Detent-Firing: %b\r\n"
    b"Detent-Fencing-Token: %b\r\n"
    b"Detent-Attempt: %b\r\n"
    b"Detent-Scheduled-For: %b\r\n"
    b"Detent-Catch-Up: %b\r\n"
    b"Detent-Signature: %b\r\n"
    b"traceparent: 00-%b-%016x-01\r\n"
    b"%b"
    b"\r\n%b"
)


class MissingSecret(LookupError):
    """A header refers to a secret that the tenant doesn't have."""


class Request:
    """Of one schedule's target and payload."""

    def __init__(self, spec: Http, payload: object, schedule: str) -> None:
        self.spec = spec
        self._payload = payload
        self._schedule = schedule
        self._schedule_header = quote(schedule, safe=_VISIBLE).encode()
        self._templates = has_templates(payload)
        self._has_body = spec.method not in _BODILESS
        self._plain = "".join(_line(name, value) for name, value in spec.headers if not is_template(value))
        self._secret = [(name, value) for name, value in spec.headers if is_template(value)]
        self._body = b"" if self._templates or not self._has_body else write_body(payload, spec.body)
        self._head = self.head_of(spec.url)

    def head_of(self, url: Url) -> bytes:
        """The lines that don't change from firing to firing, as they are sent to that URL."""
        lines = [
            f"{self.spec.method} {url.target} HTTP/1.1\r\n",
            _line("Host", url.host_header),
            self._plain,
            _line("Detent-Schedule", self._schedule_header.decode()),
            _line("Accept-Encoding", "identity"),
        ]
        given = {name.lower() for name, _ in self.spec.headers}
        if "user-agent" not in given:
            lines.append(_line("User-Agent", f"Detent/{__version__}"))
        if self._has_body and "content-type" not in given:
            lines.append(_line("Content-Type", CONTENT_TYPES[self.spec.body]))
        return "".join(lines).encode()

    def compose(
        self, context: Context, keys: Keys, timestamp: int, *, callback: str = "", to: Url | None = None
    ) -> bytes:
        """`to`: where a redirect leads. On another origin nobody is told a secret."""
        firing, when, body = context.firing_id.encode(), str(timestamp).encode(), self._body_for(context)
        token, attempt = str(context.fencing_token).encode(), str(context.attempt).encode()
        slot, late = format_instant(context.scheduled_for).encode(), b"true" if context.catch_up else b"false"
        head = self._head if to is None else self.head_of(to)
        if self._has_body:
            head += b"Content-Length: %d\r\n" % len(body)
        secret = b""
        if self._secret and (to is None or to.origin == self.spec.url.origin):
            secret = self._secret_lines(keys.values)
        back = callback.encode()
        facts = facts_of(token, attempt, slot, late, self._schedule_header, back)
        return _EACH % (
            head, secret, firing, firing, when, sign(keys.signing, firing, when, body), firing, token, attempt, slot,
            late, sign_facts(keys.signing, firing, when, facts), trace_of(firing), context.fencing_token,
            b"Detent-Callback: %b\r\n" % back if back else b"", body,
        )  # fmt: skip

    def _body_for(self, context: Context) -> bytes:
        if not (self._templates and self._has_body):
            return self._body
        values = {
            "scheduled_for": format_instant(context.scheduled_for),
            "schedule": self._schedule,
            "firing": context.firing_id,
            "attempt": str(context.attempt),
            "catch_up": "true" if context.catch_up else "false",
            "fencing_token": str(context.fencing_token),
        }
        return write_body(self._payload, self.spec.body, values)

    def _secret_lines(self, values: Mapping[str, str]) -> bytes:
        known = {f"{SECRET}{name}": value for name, value in values.items()}
        for _, value in self._secret:
            for name in names_in(value):
                if name not in known:
                    raise MissingSecret(name.removeprefix(SECRET))
        return "".join(_line(name, fill(value, known)) for name, value in self._secret).encode()


def trace_of(firing: bytes) -> bytes:
    """All attempts of a firing are one trace; an attempt's span is its fencing token."""
    return blake2b(firing, digest_size=16).hexdigest().encode()


def _line(name: str, value: str) -> str:
    return f"{name}: {value}\r\n"
