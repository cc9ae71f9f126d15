"""The target: from a schedule's work to a call that makes its requests."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Final

from detent import clock
from detent.domain.errors import DetentError
from detent.domain.http.spec import HTTP, Method, read_http
from detent.domain.need import need_of
from detent.domain.schedule import Work
from detent.targets.context import Context
from detent.targets.ending import Deferred, Ended, Excerpt
from detent.targets.http.answer import Answer, NoAnswer
from detent.targets.http.client import Client
from detent.targets.http.keys import KeyCache, Keys
from detent.targets.http.redirect import next_hop
from detent.targets.http.request import MissingSecret, Request
from detent.targets.http.verdict import judge
from detent.targets.target import Begin, Call

_WITHOUT_KEYS: Final = timedelta(seconds=10)
"""Until a firing is tried again whose tenant's secrets can't be had."""


class HttpTarget:
    """`now` tells the database's time, in seconds: receivers judge signatures by their age."""

    def __init__(self, client: Client, keys: KeyCache, now: Callable[[], float]) -> None:
        self._client = client
        self._keys = keys
        self._now = now
        self.needs: Collection[int] = frozenset({need_of({HTTP: ""})})

    def prepare(self, work: Work) -> Call:
        request = Request(read_http(work.target, work.payload), work.payload, work.schedule or "")
        return Call.of(work, self._begin(request), wants_context=True)

    async def close(self) -> None:
        await self._client.close()

    def _begin(self, request: Request) -> Begin:
        spec = request.spec
        timeout, connect_timeout = spec.timeout.total_seconds(), spec.connect_timeout.total_seconds()

        async def begin(context: Context | None) -> Excerpt | Ended | Deferred:
            assert context is not None
            began = clock.monotonic()
            keys = self._keys.fresh(context.tenant_id) or await self._fetch(context.tenant_id)
            if isinstance(keys, Deferred):
                return keys
            now = self._now()
            try:
                sent = request.compose(context, keys, int(now))
            except MissingSecret as missing:
                return Ended(code="secret", error=f"there is no secret {missing}: set it", retryable=False)
            answer = await self._client.exchange(
                spec.url, sent, head_only=spec.method is Method.HEAD, max_body=spec.max_response,
                deadline=began + timeout, connect_by=began + connect_timeout,
            )  # fmt: skip
            if spec.redirects and isinstance(answer, Answer):
                answer = await self._follow(request, context, keys, answer, began)
            return judge(spec, answer, datetime.fromtimestamp(now, UTC))

        return begin

    async def _fetch(self, tenant_id: int) -> Keys | Deferred:
        try:
            return await self._keys.of(tenant_id)
        except (DetentError, OSError) as error:
            return Deferred(delay=_WITHOUT_KEYS, reason=f"its secrets can't be had: {error}")

    async def _follow(
        self, request: Request, context: Context, keys: Keys, answer: Answer, began: float
    ) -> Answer | NoAnswer:
        """Each hop is looked up and checked like the first one, within the same time."""
        spec, at = request.spec, request.spec.url
        for _ in range(spec.redirects):
            hop = next_hop(answer, at, spec.method)
            if hop is None:
                return answer
            at, now = hop, clock.monotonic()
            found = await self._client.exchange(
                at, request.compose(context, keys, int(self._now()), to=at),
                head_only=spec.method is Method.HEAD, max_body=spec.max_response,
                deadline=began + spec.timeout.total_seconds(),
                connect_by=now + spec.connect_timeout.total_seconds(),
            )  # fmt: skip
            if isinstance(found, NoAnswer):
                return found
            answer = found
        return answer
