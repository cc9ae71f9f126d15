"""Around a WSGI application: Flask, Django, Pyramid…

    store = PostgresStore(pool.connection)
    app.wsgi_app = WsgiReceiver(app.wsgi_app, secrets="whsec_…", store=store, paths=["/hooks/"])

As with ASGI; what is known of a delivery is in `environ["detent.delivery"]`.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any

from detent.receiver.asgi import ANSWERS, means_done
from detent.receiver.delivery import MAX_BODY, Delivery, Receiver, Rejected
from detent.receiver.store import Standing, Store

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
App = Callable[[Environ, StartResponse], Iterable[bytes]]


class WsgiReceiver:
    """The store must answer at once."""

    def __init__(
        self, app: App, secrets: str | Sequence[str], store: Store, paths: Sequence[str] = ("/",),
        max_body: int = MAX_BODY,
    ) -> None:  # fmt: skip
        self._app = app
        self._receiver = Receiver(secrets)
        self._store = store
        self._paths = tuple(paths)
        self._max_body = max_body

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("PATH_INFO", "/").startswith(self._paths):
            return self._app(environ, start_response)
        try:
            body = self._body(environ)
            delivery = self._receiver.read(_headers(environ), body)
        except Rejected as rejected:
            return _answer(start_response, rejected.status, rejected.reason)
        standing = self._store.begin(delivery.key, delivery.token)
        if isinstance(standing, Awaitable):
            raise TypeError("this store is to be awaited: WSGI needs one that answers at once")
        if standing is not Standing.NEW:
            return _answer(start_response, *ANSWERS[standing])
        environ["wsgi.input"] = io.BytesIO(body)
        environ["detent.delivery"] = delivery
        return self._app(environ, self._noting(delivery, start_response))

    def _body(self, environ: Environ) -> bytes:
        size = int(environ.get("CONTENT_LENGTH") or 0)
        if size > self._max_body:
            raise Rejected(413, f"it is larger than {self._max_body >> 10} KiB")
        body: bytes = environ["wsgi.input"].read(size)
        return body

    def _noting(self, delivery: Delivery, start_response: StartResponse) -> StartResponse:
        """What is done is noted before anybody is told so."""

        def noting(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            if means_done(delivery, int(status[:3])):
                self._store.done(delivery.key)
            return start_response(status, headers, *more)

        return noting


def _headers(environ: Environ) -> dict[str, str]:
    return {
        name.removeprefix("HTTP_").replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }


def _answer(start_response: StartResponse, status: int, reason: str) -> list[bytes]:
    headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(reason)))]
    start_response(f"{status} {HTTPStatus(status).phrase}", headers)
    return [reason.encode()]
