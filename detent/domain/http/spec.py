"""The target `http`, as code, files, REST and the command line write it, read into values.

    target: {http: {url: https://example.com/hook, method: POST, headers: {X-Team: ops}, timeout: 30s}}

`target: {http: https://example.com/hook}` says the same in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from detent.domain.duration import format_duration, parse_duration
from detent.domain.errors import SpecError
from detent.domain.given import choice, mapping
from detent.domain.http.body import Body, refuse_payload
from detent.domain.http.headers import Headers, read_headers
from detent.domain.http.status import SUCCESS, TRANSIENT, Statuses, read_statuses
from detent.domain.http.url import Url, parse_url

HTTP: Final = "http"
"""Its name among the kinds of targets."""
_FIELD: Final = "target/http"
_KEYS: Final = (
    "url", "method", "headers", "body", "timeout", "connect_timeout", "success", "retry_on", "redirects",
    "max_response", "callback",
)  # fmt: skip
_CALLBACK_KEYS: Final = ("heartbeat", "timeout")
LONGEST: Final = timedelta(hours=1)
"""Of one request. What takes longer answers 202, and calls back."""
LONGEST_CALLBACK: Final = timedelta(days=30)
MAX_REDIRECTS: Final = 10
MAX_RESPONSE: Final = 1024 * 1024
"""Bytes of an answer: what is kept of it is far less."""


class Method(StrEnum):
    POST = "POST"
    GET = "GET"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"
    HEAD = "HEAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """The endpoint may answer 202 and go on: then it tells of itself at least that often, and ends by that time."""

    heartbeat: timedelta = timedelta(minutes=1)
    timeout: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """A target that has passed every check."""

    url: Url
    method: Method = Method.POST
    headers: Headers = ()
    body: Body = Body.JSON
    timeout: timedelta = timedelta(seconds=30)
    """Of a whole request: looking up, connecting, sending, all redirects, the answer to its end."""
    connect_timeout: timedelta = timedelta(seconds=5)
    """Of its first part: looking up, connecting, TLS."""
    success: Statuses = SUCCESS
    retry_on: Statuses = TRANSIENT
    redirects: int = 0
    max_response: int = 64 * 1024
    callback: Callback | None = None


def read_http(target: Mapping[str, object], payload: object) -> Http:
    """Of a schedule's target and payload."""
    written = target[HTTP]
    given = mapping({"url": written} if isinstance(written, str) else written, _KEYS, _FIELD)
    try:
        read = _read(given)
        refuse_payload(payload, read.body, has_body=read.method not in (Method.GET, Method.HEAD))
    except SpecError as error:
        raise error if error.field == "payload" else error.within(f"{_FIELD}/{error.field}") from None
    return read


def _read(given: Mapping[str, object]) -> Http:
    if "url" not in given:
        raise SpecError("a target http has a url", code="missing", field="url")
    plain = Http(url=parse_url(given["url"]))
    timeout = _duration(given, "timeout", plain.timeout, LONGEST)
    return Http(
        url=plain.url,
        method=choice(given, "method", Method),
        headers=read_headers(given.get("headers", {}), "headers"),
        body=choice(given, "body", Body),
        timeout=timeout,
        connect_timeout=_duration(given, "connect_timeout", min(plain.connect_timeout, timeout), timeout),
        success=read_statuses(given["success"], "success") if "success" in given else plain.success,
        retry_on=read_statuses(given["retry_on"], "retry_on") if "retry_on" in given else plain.retry_on,
        redirects=_number(given, "redirects", 0, MAX_REDIRECTS, plain.redirects),
        max_response=_number(given, "max_response", 0, MAX_RESPONSE, plain.max_response),
        callback=_callback(given["callback"]) if given.get("callback") is not None else None,
    )


def _callback(given: object) -> Callback:
    if given is True:
        return Callback()
    each = mapping(given, _CALLBACK_KEYS, "callback")
    plain = Callback()
    timeout = _duration(each, "timeout", plain.timeout, LONGEST_CALLBACK, "callback")
    return Callback(
        heartbeat=_duration(each, "heartbeat", min(plain.heartbeat, timeout), timeout, "callback"),
        timeout=timeout,
    )


def _duration(
    given: Mapping[str, object], key: str, default: timedelta, longest: timedelta, within: str = ""
) -> timedelta:
    if given.get(key) is None:
        return default
    field = f"{within}/{key}" if within else key
    duration = parse_duration(given[key], field)
    if duration > longest:
        raise SpecError(f"{key} is at most {format_duration(longest)}", code="out_of_range", field=field)
    return duration


def _number(given: Mapping[str, object], key: str, low: int, high: int, default: int) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise SpecError(f"{key} is a whole number from {low} to {high}", code="out_of_range", field=key)
    return value
