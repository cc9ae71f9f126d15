"""What an answer means for the attempt."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from detent.domain.http.retry_after import read_retry_after
from detent.domain.http.spec import Http
from detent.domain.http.status import GONE
from detent.domain.settle import Outcome
from detent.targets.ending import Ended, Excerpt
from detent.targets.http.answer import Answer, NoAnswer

_MOST_EXCERPT: Final = 1_000
_IDENTITY: Final = (b"", b"identity")


def judge(spec: Http, answer: Answer | NoAnswer, as_of: datetime) -> Excerpt | Ended:
    if isinstance(answer, NoAnswer):
        return Ended(
            outcome=Outcome.TIMED_OUT if answer.timed_out else Outcome.FAILED, code=answer.code, error=answer.error,
            retryable=not answer.final,
        )  # fmt: skip
    if answer.status in spec.success:
        return Excerpt(f"{answer.status} {_text(answer)}".rstrip())
    transient = answer.status in spec.retry_on
    gone = answer.status == GONE and not transient
    return Ended(
        code=str(answer.status), error=_error(spec, answer), excerpt=_text(answer), retryable=transient,
        retry_after=read_retry_after(answer.headers.get(b"retry-after"), as_of) if transient else None,
        pause=f"{spec.url.origin} answered 410, gone" if gone else None,
    )  # fmt: skip


def _error(spec: Http, answer: Answer) -> str:
    if 300 <= answer.status < 400:
        where = answer.headers.get(b"location", b"nowhere")[:200].decode("latin-1")
        why = "redirects are off" if not spec.redirects else "it can't be followed, or leads on for too long"
        return f"{spec.url.origin} answered {answer.status}, to {where}: {why}"
    return f"{spec.url.origin} answered {answer.status}"


def _text(answer: Answer) -> str:
    encoding = answer.headers.get(b"content-encoding", b"").lower()
    if encoding not in _IDENTITY:  # never unpacked: there may be a thousand times as much in it
        return f"[{len(answer.body)} bytes, {encoding[:20].decode('latin-1')}]"
    return answer.body[: 4 * _MOST_EXCERPT].decode(errors="replace")[:_MOST_EXCERPT]
