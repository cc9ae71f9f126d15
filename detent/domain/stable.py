"""The one stable hash: the same number for the same identity on every node, version and platform."""

from __future__ import annotations

from hashlib import blake2b


def stable_hash(*parts: str) -> int:
    """64 bits of the parts. They are joined by NUL, which no identity may contain."""
    whole = "\0".join(parts).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(whole, digest_size=8).digest(), "big")
