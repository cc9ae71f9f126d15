"""A store in Redis or Valkey: `RedisStore(redis.Redis(…))`, or `redis.asyncio.Redis(…)` for ASGI.

It keeps what Redis keeps: without persistence a restart forgets, and a duplicate may run once more.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final, Protocol

from detent.receiver.store import KEPT, Standing

_PREFIX: Final = "detent:received:"
_BEGIN: Final = """\
local known = redis.call('get', KEYS[1])
if known == 'done' then return 'duplicate' end
if known and (#known > #ARGV[1] or (#known == #ARGV[1] and known >= ARGV[1])) then return 'stale' end
redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 'new'"""
"""Tokens are compared as decimal texts: a number of Lua has 53 bits, a token 63."""


class Client(Protocol):
    """A client of redis-py, as far as it is used."""

    def eval(self, script: str, numkeys: int, *keys_and_args: Any) -> Any: ...
    def set(self, name: str, value: str, *, ex: int) -> Any: ...


class RedisStore:
    """Answers at once, or to be awaited, as its client does."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seconds = int(KEPT.total_seconds())

    def begin(self, key: str, token: int) -> Standing | Awaitable[Standing]:
        answer = self._client.eval(_BEGIN, 1, _PREFIX + key, str(token), self._seconds)
        return _awaited(answer) if isinstance(answer, Awaitable) else _standing(answer)

    def done(self, key: str) -> Awaitable[None] | None:
        answer: object = self._client.set(_PREFIX + key, "done", ex=self._seconds)
        return answer if isinstance(answer, Awaitable) else None


async def _awaited(answer: Awaitable[bytes | str]) -> Standing:
    return _standing(await answer)


def _standing(answer: bytes | str) -> Standing:
    return Standing(answer.decode() if isinstance(answer, bytes) else answer)
