"""What is sent: every header that is promised, a signature that others verify, and nothing that a person smuggles in."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook

from detent.domain.http.retry_after import read_retry_after
from detent.domain.http.signature import format_secret
from detent.domain.identity import firing_id
from detent.targets.http.keys import Keys
from tests.sink import answers, open_sink
from tests.targets.http.conftest import SECRET, SLOT, context

ID = firing_id(7, SLOT)


async def sent(call, sink, payload=None, **given):
    firing = given.pop("firing", None)
    assert str(await call(sink.url("/hook"), payload, firing=firing, **given)).startswith("2")
    return sink.received[-1]


# R-TARGET-2, R-EXEC-1
async def test_every_request_carries_what_a_receiver_needs(call, sink):
    one = await sent(call, sink, {"team": "ops"})
    headers = one.headers
    assert (one.method, one.path, json.loads(one.body)) == ("POST", "/hook", {"team": "ops"})
    assert headers["idempotency-key"] == headers["webhook-id"] == headers["detent-firing"] == ID
    assert headers["detent-fencing-token"] == "41"
    assert headers["detent-attempt"] == "1"
    assert headers["detent-schedule"] == "nightly"
    assert headers["detent-scheduled-for"] == "2026-03-01T02:00:00Z"
    assert headers["detent-catch-up"] == "false"
    version, trace, span, flags = headers["traceparent"].split("-")
    assert (version, len(trace), span, flags) == ("00", 32, f"{41:016x}", "01")
    assert headers["content-type"] == "application/json"
    assert headers["host"] == f"127.0.0.1:{sink.port}"
    assert headers["user-agent"].startswith("Detent/")
    names = [line.partition(":")[0].lower() for line in one.lines]
    assert len(names) == len(set(names)), "none of them twice"


# R-EXEC-1, R-TARGET-2
async def test_attempts_share_the_key_and_the_trace_and_differ_in_token_and_number(call, sink):
    first = await sent(call, sink)
    second = await sent(call, sink, firing=context(attempt=2, fencing_token=99, catch_up=True))
    for name in ("idempotency-key", "webhook-id", "detent-scheduled-for"):
        assert first.headers[name] == second.headers[name]
    assert second.headers["detent-attempt"] == "2"
    assert int(second.headers["detent-fencing-token"]) > int(first.headers["detent-fencing-token"])
    assert second.headers["detent-catch-up"] == "true"
    assert first.headers["traceparent"][:35] == second.headers["traceparent"][:35]
    assert first.headers["traceparent"] != second.headers["traceparent"]


# R-TARGET-2
@pytest.mark.parametrize("payload", [{"team": "ops"}, {}, {"ümlaut": "日本 \u2028"}, [1, None], "text", 3.5])
async def test_the_signature_is_that_of_standard_webhooks(call, sink, payload):
    one = await sent(call, sink, payload)
    assert Webhook(format_secret(SECRET)).verify(one.body, one.headers) == payload
    assert "." not in one.headers["webhook-id"]
    with pytest.raises(Exception, match="No matching signature"):
        Webhook(format_secret(SECRET[::-1])).verify(one.body, one.headers)


# R-TARGET-2
async def test_while_a_secret_is_rotated_both_signatures_are_sent(call, sink):
    call.keys = Keys((b"n" * 32, SECRET))
    one = await sent(call, sink, {"a": 1})
    for secret in (b"n" * 32, SECRET):
        Webhook(format_secret(secret)).verify(one.body, one.headers)
    assert len(one.headers["webhook-signature"].split(" ")) == 2


async def test_templates_in_the_payload_are_filled_for_each_attempt(call, sink):
    payload = {
        "day": "{{ scheduled_for }}",
        "each": ["{{schedule}}/{{ attempt }}", {"deep": "{{ firing }}:{{fencing_token}}"}],
        r"\{{ key }}": r"\{{ attempt }} {{ catch_up }}",
    }
    one = await sent(call, sink, payload, firing=context(attempt=3))
    assert json.loads(one.body) == {
        "day": "2026-03-01T02:00:00Z",
        "each": ["nightly/3", {"deep": f"{ID}:41"}],
        r"\{{ key }}": "{{ attempt }} false",
    }
    assert Webhook(format_secret(SECRET)).verify(one.body, one.headers)


async def test_forms_and_texts_are_sent_as_what_they_are(call, sink):
    one = await sent(call, sink, {"a b": "x&y", "n": 3, "on": True, "each": ["1", "2"]}, body="form")
    assert one.body == b"a+b=x%26y&n=3&on=true&each=1&each=2"
    assert one.headers["content-type"] == "application/x-www-form-urlencoded"
    one = await sent(call, sink, "at {{ scheduled_for }}", body="raw")
    assert (one.body, one.headers["content-type"]) == (
        b"at 2026-03-01T02:00:00Z",
        "text/plain; charset=utf-8",
    )
    one = await sent(call, sink, "<a/>", body="raw", headers={"Content-Type": "application/xml"})
    assert one.headers["content-type"] == "application/xml"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_requests_that_only_read_have_no_body(call, sink, method):
    sink.behave("/hook", answers(204))
    one = await sent(call, sink, method=method)
    assert (one.method, one.body) == (method, b"")
    assert "content-length" not in one.headers
    assert "content-type" not in one.headers


async def test_headers_of_a_schedule_are_sent_and_secrets_are_put_in(call, sink):
    call.keys = Keys((SECRET,), {"api_token": "t0p", "user": "ada"})
    headers = {
        "X-Team": "ops",
        "Authorization": "Bearer {{ secret.api_token }}",
        "X-User": "{{secret.user}}!",
    }
    one = await sent(call, sink, headers=headers)
    assert (one.headers["x-team"], one.headers["authorization"], one.headers["x-user"]) == (
        "ops",
        "Bearer t0p",
        "ada!",
    )


async def test_a_secret_that_is_missing_is_told_and_nothing_is_sent(call, sink):
    ended = await call(sink.url(), headers={"Authorization": "{{ secret.api_token }}"})
    assert (ended.code, ended.retryable) == ("secret", False)
    assert "there is no secret api_token" in ended.error
    assert not sink.received


async def test_the_name_of_a_schedule_can_not_break_out_of_its_header(call, sink):
    """Names are printable, but not all of them ASCII."""
    from detent.domain.http.spec import read_http
    from detent.targets.http.request import Request

    name = 'nächtlich 100% "日本"'
    spec = read_http({"http": sink.url()}, {})
    line = next(
        x
        for x in Request(spec, {}, name).head_of(spec.url).split(b"\r\n")
        if x.startswith(b"Detent-Schedule")
    )
    assert line == b'Detent-Schedule: n%C3%A4chtlich%20100%25%20"%E6%97%A5%E6%9C%AC"'


# R-TARGET-1
async def test_a_redirect_is_a_failure_unless_it_is_allowed(call, sink):
    sink.behave("/hook", answers(302, b"", "Location: /there"))
    ended = await call(sink.url("/hook"))
    assert (ended.code, ended.retryable) == ("302", False)
    assert "to /there: redirects are off" in ended.error
    assert [one.path for one in sink.received] == ["/hook"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_that_is_followed_keeps_method_body_and_signature(call, sink, status):
    sink.behave("/hook", answers(status, b"", "Location: /there?x=1#part"))
    assert await call(sink.url("/hook"), {"a": 1}, redirects=1) == "200 ok"
    first, second = sink.received
    assert (second.method, second.path, second.body) == (first.method, "/there?x=1", first.body)
    assert second.headers["webhook-id"] == first.headers["webhook-id"]
    assert Webhook(format_secret(SECRET)).verify(second.body, second.headers)


async def test_redirects_come_to_an_end(call, sink):
    sink.behave("/hook", answers(307, b"", "Location: /hook"))
    ended = await call(sink.url("/hook"), redirects=3)
    assert (ended.code, ended.retryable) == ("307", False)
    assert len(sink.received) == 4


async def test_a_post_is_not_turned_into_a_get(call, sink):
    sink.behave("/hook", answers(303, b"", "Location: /there"))
    assert (await call(sink.url("/hook"), redirects=3)).code == "303"
    assert await call(sink.url("/hook"), redirects=3, method="GET") == "200 ok"


async def test_on_another_origin_nobody_is_told_a_secret(call, sink):
    call.keys = Keys((SECRET,), {"api_token": "t0p"})
    async with open_sink() as other:
        sink.behave("/hook", answers(307, b"", f"Location: {other.url('/there')}"))
        await call(
            sink.url("/hook"),
            redirects=1,
            headers={"Authorization": "{{ secret.api_token }}", "X-Team": "ops"},
        )
        (one,) = other.received
        assert sink.received[0].headers["authorization"] == "t0p"
        assert "authorization" not in one.headers
        assert (one.headers["x-team"], one.headers["host"]) == ("ops", f"127.0.0.1:{other.port}")


async def test_redirects_share_one_deadline(call, sink):
    from tests.sink import slow

    sink.behave("/hook", slow(0.25, answers(307, b"", "Location: /hook")))
    ended = await call(sink.url("/hook"), redirects=10, timeout="600ms")
    assert ended.code == "timeout"
    assert len(sink.received) <= 3


# R-TARGET-1, R-EXEC-4
@pytest.mark.parametrize(
    ("status", "ends"),
    [(200, "success"), (204, "success"), (299, "success"), (304, "final"), (400, "final"), (401, "final"), (404, "final"),
     (408, "retry"), (409, "retry"), (410, "final"), (422, "final"), (425, "retry"), (429, "retry"), (500, "retry"),
     (501, "retry"), (503, "retry"), (599, "retry")],
)  # fmt: skip
async def test_a_status_decides_what_becomes_of_the_attempt(call, sink, status, ends):
    sink.behave("/", answers(status, b"why" if status not in (204, 304) else b""))
    ended = await call(sink.url())
    if ends == "success":
        assert str(ended).startswith(str(status))
    else:
        assert (ended.code, ended.retryable) == (str(status), ends == "retry")
        assert ended.excerpt == ("why" if status != 304 else "")


async def test_what_counts_as_success_and_what_is_tried_again_may_be_said(call, sink):
    sink.behave("/", answers(404))
    assert await call(sink.url(), success=["2xx", 404]) == "404"
    assert (await call(sink.url(), retry_on=["404-405"])).retryable
    sink.behave("/", answers(200))
    assert not (await call(sink.url(), success=[201])).retryable
    sink.behave("/", answers(503))
    assert not (await call(sink.url(), retry_on=[])).retryable


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("120", 120), ("0", 0), ("Sun, 01 Mar 2026 00:01:00 GMT", 60), ("Sat, 28 Feb 2026 00:00:00 GMT", 0),
     ("soon", None), ("-1", None), ("1.5", None), ("", None), ("9" * 9, 999_999_999), ("1e3", None),
     ("Sun, 99 Mar 2026 00:01:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(said, seconds):
    found = read_retry_after(said.encode(), datetime(2026, 3, 1, tzinfo=UTC))
    assert found == (None if seconds is None else timedelta(seconds=seconds))


def test_patience_beyond_all_bounds_is_patience_all_the_same():
    assert read_retry_after(b"9" * 400, SLOT) == timedelta.max


async def test_patience_is_granted_to_those_who_may_be_asked_again(call, sink):
    sink.behave("/", answers(429, b"", "Retry-After: 7"))
    assert (await call(sink.url())).retry_after.total_seconds() == 7
    sink.behave("/", answers(404, b"", "Retry-After: 7"))
    assert (await call(sink.url())).retry_after is None


async def test_excerpts_are_text_whatever_came(call, sink):
    sink.behave("/", answers(500, b"\xff\xfe\0binary" + b"x" * 5_000))
    excerpt = (await call(sink.url())).excerpt
    assert len(excerpt) == 1_000
    assert excerpt.startswith("��")
