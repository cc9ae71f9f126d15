"""Around an ASGI application: FastAPI, Starlette, Django, Litestar…

    app.add_middleware(AsgiReceiver, secrets="whsec_…", store=AsyncPostgresStore(pool), paths=["/hooks/"])

Requests to those paths reach the application only if they are signed, and new; it finds what is known of them in
`scope["detent"]`, a Delivery. An answer of 2xx means done. With a callback, 202 means begun: then say `done` yourself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from detent.receiver.delivery import MAX_BODY, Delivery, Receiver, Rejected
from detent.receiver.store import Standing, Store

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class AsgiReceiver:
    """`paths`: where webhooks come in; what begins with one of them is taken for one."""

    def __init__(
        self, app: App, secrets: str | Sequence[str], store: Store, paths: Sequence[str] = ("/",),
        max_body: int = MAX_BODY,
    ) -> None:  # fmt: skip
        self._app = app
        self._receiver = Receiver(secrets)
        self._store = store
        self._paths = tuple(paths)
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(self._paths):
            await self._app(scope, receive, send)
            return
        try:
            body = await self._body(receive)
            delivery = self._receiver.read(_headers(scope), body)
        except Rejected as rejected:
            await _answer(send, rejected.status, rejected.reason)
            return
        standing = await _now(self._store.begin(delivery.key, delivery.token))
        if standing is not Standing.NEW:
            await _answer(send, *ANSWERS[standing])
            return
        scope["detent"] = delivery
        await self._app(scope, _again(body, receive), self._noting(delivery, send))

    async def _body(self, receive: Receive) -> bytes:
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Rejected(400, "it was not sent to its end")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body:
                raise Rejected(413, f"it is larger than {self._max_body >> 10} KiB")
            more = message.get("more_body", False)
        return b"".join(parts)

    def _noting(self, delivery: Delivery, send: Send) -> Send:
        """What is done is noted before anybody is told so."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and means_done(delivery, message["status"]):
                await _now(self._store.done(delivery.key))
            await send(message)

        return noting


ANSWERS = {
    Standing.DUPLICATE: (200, "it was done before"),
    Standing.STALE: (409, "a newer attempt has begun"),
}


def means_done(delivery: Delivery, status: int) -> bool:
    return 200 <= status < 300 and not (status == 202 and delivery.callback is not None)


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _again(body: bytes, receive: Receive) -> Receive:
    """The body once more, for the application; then whatever comes."""
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: Send, status: int, reason: str) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(reason)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": reason.encode()})


async def _now(answer: Any) -> Any:
    return await answer if isinstance(answer, Awaitable) else answer
