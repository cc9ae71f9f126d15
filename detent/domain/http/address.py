"""Which addresses are public: our own table, for a firing must never reach what only its worker can.

The standard library's `is_global` lets through what leads inside: metadata services on odd addresses, and IPv6 forms
that carry an IPv4 address (NAT64, 6to4, IPv4-mapped). Of IPv6, only what is handed out as global unicast is public,
less the parts of it that are reserved; everything else is not, whatever it will be used for one day.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC: Final = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "a private network",
    "100.64.0.0/10": "a carrier's or cloud's inner network",
    "127.0.0.0/8": "this machine",
    "168.63.129.16/32": "a metadata service",  # Azure's, at an address like any other
    "169.254.0.0/16": "link-local, where metadata services are",
    "172.16.0.0/12": "a private network",
    "192.0.0.0/24": "reserved, where metadata services are",
    "192.0.2.0/24": "for documentation",
    "192.31.196.0/24": "reserved",
    "192.52.193.0/24": "reserved",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "a private network",
    "192.175.48.0/24": "reserved",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "::/128": "this machine",
    "::1/128": "this machine",
    "::ffff:0:0/96": "an IPv4 address in disguise",
    "::/96": "an IPv4 address in disguise",
    "64:ff9b::/96": "an IPv4 address in disguise",
    "64:ff9b:1::/48": "an IPv4 address in disguise",
    "2001::/23": "reserved",  # Teredo, which carries IPv4 addresses, is in it
    "2001:db8::/32": "for documentation",
    "2002::/16": "an IPv4 address in disguise",
    "2620:4f:8000::/48": "reserved",
    "3fff::/20": "for documentation",
    "fc00::/7": "a private network",
    "fe80::/10": "link-local",
    "fec0::/10": "a private network",
    "ff00::/8": "multicast",
}
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_V4: Final = [(IPv4Network(net), what) for net, what in _NOT_PUBLIC.items() if "." in net]
_V6: Final = [(IPv6Network(net), what) for net, what in _NOT_PUBLIC.items() if "." not in net]

METADATA: Final[tuple[Network, ...]] = (
    IPv4Network("168.63.129.16/32"),
    IPv4Network("169.254.0.0/16"),
    IPv4Network("192.0.0.0/24"),
    IPv4Network("100.100.100.200/32"),
    IPv6Network("fe80::/10"),
    IPv6Network("fd00:ec2::/32"),
    IPv6Network("fd20:ce::/32"),
)
"""Where clouds give their secrets to whoever asks from inside."""


def not_public(address: Address) -> str | None:
    """What it is instead; None for a public address."""
    if isinstance(address, IPv4Address):
        return next((what for net, what in _V4 if address in net), None)
    found = next((what for net, what in _V6 if address in net), None)
    return found or (None if address in _GLOBAL_UNICAST else "reserved")
