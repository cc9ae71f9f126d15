"""URLs, read strictly: one way to write each, so that what is checked is what is asked for.

Where readers of URLs differ (backslashes, credentials, numbers for hosts, letters that look like dots), an attacker
finds the gap between the one that checks and the one that connects. What is doubtful is refused with what would be
right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from detent.domain.errors import SpecError, quoted
from detent.domain.http.address import Address

MAX_URL: Final = 2_048
_MAX_HOST: Final = 253
_PORTS: Final = {"http": 80, "https": 443}
_WHOLE: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>/*)(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_REST: Final = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?%\[\]]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """Its parts, in the one form that they have."""

    scheme: str
    host: str
    """A name in lower case, or an address without brackets."""
    port: int
    address: Address | None
    """If the host is one."""
    target: str
    """Path and query, as the request line says it."""

    @property
    def origin(self) -> str:
        """Host and port: what limits are for."""
        return f"{self._bracketed}:{self.port}"

    @property
    def host_header(self) -> str:
        return self._bracketed if self.port == _PORTS[self.scheme] else self.origin

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}{self.target}"

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_url(text: object, field: str = "url") -> Url:
    if not isinstance(text, str):
        raise SpecError("a URL is a text such as https://example.com/hook", code="bad_url", field=field)
    if len(text) > MAX_URL:
        raise _refused(
            field, text, text[:40], f"a URL has at most {MAX_URL} characters, and this one {len(text)}"
        )
    bad = next((c for c in text if not "!" <= c <= "~" or c == "\\"), None)
    if bad is not None:
        raise _refused(
            field,
            text,
            bad,
            _ADVICE.get(bad, "a URL is written in ASCII: escape the rest as %C3%A9, a host as xn--…"),
        )
    whole = _WHOLE.fullmatch(text)
    if whole is None or whole["scheme"].lower() not in _PORTS or whole["slashes"] != "//":
        raise _refused(field, text, text.partition(":")[0], "a URL begins with https:// (or http://)")
    scheme = whole["scheme"].lower()
    host, port = _authority(whole["authority"], text, field)
    return Url(
        scheme=scheme, host=host[0], address=host[1], port=_PORTS[scheme] if port is None else port,
        target=_target(whole["rest"], text, field),
    )  # fmt: skip


def _authority(authority: str, text: str, field: str) -> tuple[tuple[str, Address | None], int | None]:
    if "@" in authority:
        raise _refused(
            field, text, authority, "a URL carries no credentials: put them into a header, as a reference to a secret"
        )  # fmt: skip
    host, colon, digits = authority, "", ""
    if not authority.endswith("]"):
        host, colon, digits = authority.rpartition(":") if ":" in authority else (authority, "", "")
    if not colon:
        return _host(host, text, field), None
    if not digits.isdigit() or len(digits) > 5 or not 1 <= int(digits) <= 65_535:
        raise _refused(field, text, digits or ":", "a port is a number from 1 to 65535")
    return _host(host, text, field), int(digits)


def _host(host: str, text: str, field: str) -> tuple[str, Address | None]:
    if host.startswith("[") and host.endswith("]"):
        try:
            v6 = IPv6Address(host[1:-1])
        except AddressValueError:
            v6 = None
        if v6 is None or v6.scope_id is not None:
            raise _refused(field, text, host, f"{quoted(host)} is no IPv6 address")
        return v6.compressed, v6
    name = host.lower()
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            v4 = IPv4Address(name)
        except AddressValueError:
            raise _refused(
                field, text, host, f"{quoted(host)} is no IPv4 address, and no name: write four numbers"
            ) from None  # fmt: skip
        return name, v4
    if not name:
        raise _refused(field, text, "//", "a URL has a host")
    if len(name) > _MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        advice = (
            "leave out the dot at its end"
            if name.endswith(".")
            else "it is letters, digits and dashes, with dots"
        )
        raise _refused(field, text, host, f"{quoted(host)} is no name of a host: {advice}")
    return name, None


def _target(rest: str, text: str, field: str) -> str:
    if "#" in rest:
        raise _refused(field, text, "#", "what follows # is never sent: leave it out, or write %23")
    if "{{" in rest:
        raise _refused(field, text, "{{", "templates stand in the payload and in headers, not in the URL")
    if not _REST.fullmatch(rest):
        bad = next(c for c in rest if not _REST.fullmatch(c))
        raise _refused(field, text, bad, f"write {quoted(bad)} as %{ord(bad):02X}")
    if found := _BAD_ESCAPE.search(rest):
        raise _refused(field, text, rest[found.start() : found.start() + 3], "write a percent sign as %25")
    return rest if rest.startswith("/") else f"/{rest}"


_ADVICE: Final = {
    "\\": "a URL has slashes, not backslashes",
    " ": "write a space as %20",
    "\n": "a URL has no line breaks",
    "\r": "a URL has no line breaks",
    "\t": "a URL has no tabs",
    "\0": "a URL has no control characters",
}


def _refused(field: str, text: str, token: str, message: str) -> SpecError:
    return SpecError(
        message, code="bad_url", field=field, token=token[:40], position=max(0, text.find(token))
    )
