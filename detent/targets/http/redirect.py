"""Where a redirect leads, if it may be followed: the method and the body stay what they are."""

from __future__ import annotations

from typing import Final
from urllib.parse import urljoin

from detent.domain.errors import SpecError
from detent.domain.http.spec import Method
from detent.domain.http.url import MAX_URL, Url, parse_url
from detent.targets.http.answer import Answer

_SAME: Final = (301, 302, 307, 308)
_AS_GET: Final = 303


def next_hop(answer: Answer, at: Url, method: Method) -> Url | None:
    """None: it is no redirect, or none to follow. Never from https to http."""
    reading = method in (Method.GET, Method.HEAD)
    location = answer.headers.get(b"location", b"")
    if not location or not (answer.status in _SAME or (answer.status == _AS_GET and reading)):
        return None
    try:
        joined = urljoin(str(at), location[:MAX_URL].decode("latin-1").partition("#")[0])
        url = parse_url(joined)
    except (SpecError, ValueError):
        return None
    return None if at.scheme == "https" and url.scheme == "http" else url
