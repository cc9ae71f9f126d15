"""Around applications: what reaches them, and what is answered instead."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from detent.receiver import AsgiReceiver, MemoryStore, WsgiReceiver
from tests.receiver.conftest import WHSEC, delivery


class Asgi:
    """An application that answers with `status`, behind the middleware."""

    def __init__(self, store, status=200, **options):
        self.status, self.seen = status, []
        self.receiver = AsgiReceiver(self.app, WHSEC, store, paths=["/hooks/"], **options)

    async def app(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        self.seen.append((scope["path"], scope.get("detent"), body))
        if self.status is None:
            raise RuntimeError("broken")
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b"app"})

    async def post(self, headers, body, path="/hooks/a", *, chunks=2):
        size = max(1, len(body) // chunks)
        parts = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
        messages = [
            {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
            for number, part in enumerate(parts)
        ]
        sent = []

        async def receive():
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self.receiver({"type": "http", "path": path, "headers": raw}, receive, send)
        return sent[0]["status"], sent[1]["body"].decode()


class Wsgi:
    def __init__(self, store, status=200, **options):
        self.status, self.seen = status, []
        self.receiver = WsgiReceiver(self.app, WHSEC, store, paths=["/hooks/"], **options)

    def app(self, environ, start_response):
        body = environ["wsgi.input"].read()
        self.seen.append((environ["PATH_INFO"], environ.get("detent.delivery"), body))
        if self.status is None:
            raise RuntimeError("broken")
        start_response(f"{self.status} X", [])
        return [b"app"]

    async def post(self, headers, body, path="/hooks/a"):
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        environ |= {"PATH_INFO": path, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        started = []
        answer = b"".join(self.receiver(environ, lambda status, headers: started.append(status)))
        return int(started[0][:3]), answer.decode()


both = pytest.mark.parametrize("kind", [Asgi, Wsgi])


# R-TARGET-2
@both
async def test_a_delivery_reaches_the_application_once(kind):
    app = kind(MemoryStore())
    headers, body = delivery({"n": 1})
    assert await app.post(headers, body) == (200, "app")
    assert await app.post(headers, body) == (200, "it was done before")
    assert await app.post(*delivery({"n": 1}, fencing_token=99)) == (200, "it was done before")
    ((path, read, seen),) = app.seen
    assert (path, json.loads(seen), read.schedule) == ("/hooks/a", {"n": 1}, "nächtlich")


# R-TARGET-2
@both
@pytest.mark.parametrize("status", [500, 404, 302, None])
async def test_what_failed_may_come_again_with_a_newer_token(kind, status):
    app = kind(MemoryStore(), status)
    if status is None:
        with pytest.raises(RuntimeError):
            await app.post(*delivery(fencing_token=5))
    else:
        assert await app.post(*delivery(fencing_token=5)) == (status, "app")
    assert await app.post(*delivery(fencing_token=5)) == (409, "a newer attempt has begun")
    assert await app.post(*delivery(fencing_token=4)) == (409, "a newer attempt has begun")
    app.status = 200
    assert await app.post(*delivery(fencing_token=6)) == (200, "app")
    assert len(app.seen) == 2


# R-TARGET-4
@both
async def test_what_has_only_begun_is_not_done(kind):
    """A long job answers 202, and says itself when it is done."""
    store = MemoryStore()
    app = kind(store, 202)
    headers, body = delivery(fencing_token=5, callback="https://detent/callbacks/x")
    assert await app.post(headers, body) == (202, "app")
    assert (await app.post(*delivery(fencing_token=6, callback="https://detent/callbacks/y")))[0] == 202
    store.done(headers["webhook-id"])
    assert await app.post(*delivery(fencing_token=7)) == (200, "it was done before")
    other = kind(MemoryStore(), 202)
    for _ in range(2):
        await other.post(*delivery(fencing_token=5))
    assert len(other.seen) == 1, "without a callback, 202 is a yes like any other"


# R-TARGET-2
@both
async def test_nobody_else_gets_in(kind):
    app = kind(MemoryStore())
    headers, body = delivery()
    assert (await app.post({}, body))[0] == 401
    assert (await app.post(headers, body + b"x"))[0] == 401
    assert (await app.post(*delivery(ago=3_600)))[0] == 401
    assert (await app.post(headers, b"x" * (1 << 20) + b"x"))[0] == 413
    assert app.seen == []
    assert await app.post({}, b"plain", "/other") == (200, "app")
    assert app.seen == [("/other", None, b"plain")]


async def test_a_request_that_breaks_off_does_not_reach_the_application():
    app = Asgi(MemoryStore())
    sent = []

    async def gone():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await app.receiver({"type": "http", "path": "/hooks/a", "headers": []}, gone, send)
    assert (sent[0]["status"], app.seen) == (400, [])


async def test_websockets_and_lifespans_pass():
    passed = []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    receiver = AsgiReceiver(app, WHSEC, MemoryStore())
    for kind in ("lifespan", "websocket"):
        await receiver({"type": kind, "path": "/"}, None, None)
    assert passed == ["lifespan", "websocket"]


async def test_wsgi_wants_a_store_that_answers_at_once():
    class Later(MemoryStore):
        def begin(self, key, token):
            return asyncio.get_running_loop().create_future()

    with pytest.raises(TypeError, match="needs one that answers at once"):
        await Wsgi(Later()).post(*delivery())


# R-TARGET-2
async def test_it_works_on_every_store(store):
    app = Asgi(store)
    headers, body = delivery()
    assert await app.post(headers, body) == (200, "app")
    assert await app.post(headers, body) == (200, "it was done before")
