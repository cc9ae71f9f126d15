"""Whom targets may reach: public addresses, and what the settings admit besides.

The allow-list has addresses and networks (`10.1.0.0/16`), names (`hooks.internal`), names with a port (`web:8000`)
and families of names (`*.svc.cluster.local`). A name admits what it leads to, for its network is inside; but where
clouds keep their metadata, nothing is reached unless its own address is on the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_network
from typing import Final

from detent.domain.errors import SpecError, quoted
from detent.domain.http.address import METADATA, Address, Network, not_public
from detent.domain.http.url import Url, parse_url

_NOT_HTTP: Final = frozenset({
    1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5433, 5672, 5984,
    6000, 6379, 6432, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 7001, 9042, 9092, 9200, 9300, 10080, 10250,
    11211, 27017, 50000,
})  # fmt: skip
"""Above 1023, where something else than web servers listens: databases, caches, brokers, orchestrators."""
_HINT: Final = "if it is yours, put it on DETENT_HTTP_ALLOW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What is admitted besides the public."""

    networks: tuple[Network, ...] = ()
    names: frozenset[tuple[str, int | None]] = frozenset()
    families: tuple[str, ...] = ()
    """Endings of names, with their dot."""
    plain: bool = False
    """http:// to hosts that are not on the list, too."""

    def refuse_url(self, url: Url, field: str = "url") -> None:
        """What can be said before anybody asks for its addresses."""
        if (reason := self._refusal_of(url)) is not None:
            raise SpecError(
                f"{quoted(str(url))} may not be reached: {reason}", code="unreachable", field=field
            )

    def refusal(self, url: Url, addresses: Iterable[Address]) -> str | None:
        """Why it must not be reached at these addresses; one that is not public refuses them all."""
        if (reason := self._refusal_of(url)) is not None:
            return reason
        by_name = self._names(url)
        for address in addresses:
            what = not_public(address)
            metadata = any(address in net for net in METADATA if net.version == address.version)
            if what is None or self._lists(address) or (by_name and not metadata):
                continue
            return f"it leads to {address}, which is {what}; {_HINT}"
        return None

    def _refusal_of(self, url: Url) -> str | None:
        listed = self._names(url) or (url.address is not None and self._lists(url.address))
        if url.address is not None and not listed and (what := not_public(url.address)) is not None:
            return f"{url.address} is {what}; {_HINT}"
        if listed:
            return None
        if url.address is None and "." not in url.host:
            return f"{url.host} is a name of an inner network; {_HINT}"
        if url.host.endswith((".localhost", ".local", ".internal")):
            return f"{url.host} is a name of an inner network; {_HINT}"
        if (url.port < 1024 and url.port not in (80, 443)) or url.port in _NOT_HTTP:
            return f"port {url.port} is none of a web server; {_HINT}, as {url.origin}"
        if url.scheme == "http" and not self.plain:
            return f"it is not encrypted: use https, or allow http by DETENT_HTTP_PLAIN=true ({_HINT})"
        return None

    def _lists(self, address: Address) -> bool:
        return any(address in net for net in self.networks if net.version == address.version)

    def _names(self, url: Url) -> bool:
        return (
            (url.host, None) in self.names
            or (url.host, url.port) in self.names
            or any(url.host.endswith(family) for family in self.families)
        )


PUBLIC: Final = Reach()
LOOPBACK: Final = "127.0.0.0/8,::1,localhost"
"""What `detent dev` admits."""


@lru_cache
def parse_reach(text: str, *, plain: bool = False) -> Reach:
    """The setting: entries with commas between them."""
    networks: list[Network] = []
    names: set[tuple[str, int | None]] = set()
    families: list[str] = []
    for entry in filter(None, (part.strip().lower() for part in text.split(","))):
        network = _network(entry)
        if network is not None:
            networks.append(network)
        elif entry.startswith("*."):
            families.append("." + _name(entry[2:], entry)[0])
        else:
            names.add(_name(entry, entry))
    return Reach(networks=tuple(networks), names=frozenset(names), families=tuple(families), plain=plain)


def _network(entry: str) -> Network | None:
    try:
        return ip_network(entry.removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


def _name(text: str, entry: str) -> tuple[str, int | None]:
    try:
        url = parse_url(f"https://{text}")
    except SpecError as error:
        raise _no_entry(entry) from error
    if url.target != "/" or "/" in text:
        raise _no_entry(entry)
    return url.host, url.port if text.endswith(f":{url.port}") else None


def _no_entry(entry: str) -> SpecError:
    return SpecError(
        f"{quoted(entry)} is no entry of an allow-list: it has networks (10.1.0.0/16), names (hooks.internal),"
        " names with a port (web:8000) and families of names (*.svc.cluster.local)",
        code="bad_allow_list", field="http_allow",
    )  # fmt: skip
