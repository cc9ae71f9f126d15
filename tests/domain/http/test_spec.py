"""The target `http` at its registration: what it accepts, and how it refuses the rest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.errors import SpecError
from detent.domain.http.reach import parse_reach
from detent.domain.http.signature import fits, format_secret, parse_secret, sign
from detent.domain.http.spec import Callback, Method, read_http
from detent.domain.http.template import fill_all
from detent.domain.schedule import read_work, register

URL = "https://example.com/hook"
AS_OF = datetime(2026, 3, 1, tzinfo=UTC)


def http(payload=None, **given):
    return read_http({"http": {"url": URL, **given}}, {} if payload is None else payload)


def registered(target, **more):
    spec = {"name": "n", "trigger": {"cron": "0 2 * * *"}, "target": target, **more}
    return register(spec, as_of=AS_OF, identity="", min_interval=timedelta(seconds=60))


# R-TARGET-1
def test_a_url_is_enough():
    spec = read_http({"http": URL}, {})
    assert spec == http()
    assert (str(spec.url), spec.method, spec.timeout, spec.connect_timeout) == (
        URL, Method.POST, timedelta(seconds=30), timedelta(seconds=5),
    )  # fmt: skip
    assert spec.redirects == 0
    assert spec.callback is None
    assert {200, 299} <= spec.success
    assert not {199, 300, 404} & spec.success
    assert {408, 409, 425, 429, 500, 599} <= spec.retry_on
    assert not {400, 404, 410, 422} & spec.retry_on


# R-TARGET-1
def test_all_of_it_can_be_said():
    spec = http(
        {"a": 1}, method="PUT", headers={"X-A": "b"}, body="form", timeout="5s", connect_timeout="1s",
        success=[200, "3xx", "410-412"], retry_on=["5xx"], redirects=3, max_response=10, callback={"heartbeat": "30s"},
    )  # fmt: skip
    assert (spec.method, spec.headers, spec.redirects, spec.max_response) == ("PUT", (("X-A", "b"),), 3, 10)
    assert {200, 399, 411} <= spec.success
    assert spec.callback == Callback(heartbeat=timedelta(seconds=30))
    assert http(callback=True).callback == Callback()
    assert http(timeout="2s").connect_timeout == timedelta(seconds=2), "never longer than the whole"


# R-TARGET-1, R-TIME-9
@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"url": "http:x"}, "url", "begins with https://"),
        ({"verb": "POST"}, "", "no field of target/http: "),
        ({"method": "post"}, "method", "method is one of POST, GET"),
        ({"method": "CONNECT"}, "method", "method is one of"),
        ({"method": "POST / HTTP/1.1\r\nX: y"}, "method", "method is one of"),
        ({"headers": ["a"]}, "headers", "an object of names and texts"),
        ({"headers": {"": "x"}}, "headers", "no name of a header"),
        ({"headers": {"a b": "x"}}, "headers", "no name of a header"),
        ({"headers": {"a:": "x"}}, "headers", "no name of a header"),
        ({"headers": {"a\r\nb": "x"}}, "headers", "no name of a header"),
        ({"headers": {"é": "x"}}, "headers", "no name of a header"),
        ({"headers": {"X": "a\r\nY: b"}}, "headers/X", "visible ASCII in one line"),
        ({"headers": {"X": "a\n"}}, "headers/X", "visible ASCII in one line"),
        ({"headers": {"X": "a\0b"}}, "headers/X", "visible ASCII in one line"),
        ({"headers": {"X": " a"}}, "headers/X", "without blanks at its ends"),
        ({"headers": {"X": "é"}}, "headers/X", "visible ASCII"),
        ({"headers": {"X": ""}}, "headers/X", "visible ASCII"),
        ({"headers": {"X": 7}}, "headers/X", "visible ASCII"),
        ({"headers": {"Host": "evil"}}, "headers", "Host is set by Detent"),
        ({"headers": {"content-LENGTH": "1"}}, "headers", "is set by Detent"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "headers", "is set by Detent"),
        ({"headers": {"Connection": "close"}}, "headers", "is set by Detent"),
        ({"headers": {"Upgrade": "x"}}, "headers", "is set by Detent"),
        ({"headers": {"Expect": "100-continue"}}, "headers", "is set by Detent"),
        ({"headers": {"Proxy-Authorization": "x"}}, "headers", "is set by Detent"),
        ({"headers": {"webhook-id": "x"}}, "headers", "is set by Detent"),
        ({"headers": {"Idempotency-Key": "x"}}, "headers", "is set by Detent"),
        ({"headers": {"Detent-Attempt": "1"}}, "headers", "is set by Detent"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "headers", "x-a is given twice"),
        ({"headers": {f"x{n}": "1" for n in range(51)}}, "headers", "at most 50 headers"),
        ({"headers": {"X": "y" * 9_000}}, "headers", "at most 8 KiB"),
        ({"headers": {"X": "{{ secret }}"}}, "headers/X", "secret.NAME"),
        ({"headers": {"X": "{{ attempt }}"}}, "headers/X", "secret.NAME"),
        ({"body": "xml"}, "body", "body is one of json, form, raw"),
        ({"timeout": "2h"}, "timeout", "timeout is at most 1h"),
        ({"timeout": 30}, "timeout", "a duration is a text"),
        ({"timeout": "1s", "connect_timeout": "2s"}, "connect_timeout", "at most 1s"),
        ({"success": 200}, "success", "a list of status codes"),
        ({"success": ["1xx"]}, "success", "a status is a number"),
        ({"success": [True]}, "success", "a status is a number"),
        ({"success": ["299-200"]}, "success", "runs backwards"),
        ({"retry_on": ["5xx "]}, "retry_on", "a status is a number"),
        ({"redirects": 11}, "redirects", "from 0 to 10"),
        ({"redirects": True}, "redirects", "from 0 to 10"),
        ({"max_response": -1}, "max_response", "from 0 to"),
        ({"callback": {"beat": "1s"}}, "callback", "no field of callback"),
        ({"callback": {"timeout": "60d"}}, "callback/timeout", "at most 30d"),
    ],
)  # fmt: skip
def test_what_can_not_be_meant_is_refused_with_its_field(given, field, message):
    with pytest.raises(SpecError) as refused:
        http(**given)
    assert message in refused.value.message
    assert refused.value.field == f"target/http/{field}".removesuffix("/")


@pytest.mark.parametrize(
    ("payload", "given", "message"),
    [
        ({"a": 1}, {"method": "GET"}, "GET and HEAD have no body"),
        ({"a": 1}, {"body": "raw"}, "the payload is a text"),
        (["a"], {"body": "form"}, "the payload is an object"),
        ({"a": {"b": 1}}, {"body": "form"}, "the payload is an object"),
        ({"a": None}, {"body": "form"}, "the payload is an object"),
        ({"a": "{{ slot }}"}, {}, "nothing that a template has: scheduled_for, schedule"),
        ({"a": ["x {{ secret.token }}"]}, {}, "nothing that a template has"),
        ({"a": "{{ scheduled_for"}, {}, "nothing that a template has"),
        ({"a": "{{ 1 + 1 }}"}, {}, "nothing that a template has"),
        ({"a": "{{ attempt.__class__ }}"}, {}, "nothing that a template has"),
        ({"a": "{{}}"}, {}, r"write \{{"),
    ],
)
def test_a_payload_that_can_not_be_sent_is_refused(payload, given, message):
    with pytest.raises(SpecError) as refused:
        http(payload, **given)
    assert message in refused.value.message
    assert refused.value.field == "payload"


def test_what_is_put_into_a_template_is_not_read_as_one():
    values = {"schedule": "{{ firing }}", "firing": "no"}
    assert fill_all(["{{ schedule }}", {"{{ schedule }}": r"\{{ schedule }}"}], values) == [
        "{{ firing }}", {"{{ schedule }}": "{{ schedule }}"},
    ]  # fmt: skip


# R-TARGET-3
def test_a_schedule_is_registered_with_a_target_that_may_be_reached():
    schedule = registered({"http": URL}, payload={"a": "{{ scheduled_for }}"})
    assert read_work(schedule.work_text).schedule == "n"
    with pytest.raises(SpecError, match="may not be reached") as refused:
        registered({"http": "https://127.0.0.1/"})
    assert refused.value.field == "target/http/url"
    spec = {"name": "n", "trigger": {"cron": "0 2 * * *"}, "target": {"http": "http://127.0.0.1/"}}
    reach = parse_reach("127.0.0.1")
    assert register(spec, as_of=AS_OF, identity="", min_interval=timedelta(seconds=60), reach=reach)


def test_schedules_of_tasks_do_not_tell_their_names():
    """Those that say the same share the text of their work."""
    assert registered({"task": "t"}).work_text == '{"target":{"task":"t"}}'


# R-TARGET-2
def test_the_vector_of_standard_webhooks():
    """From the specification's reference libraries."""
    secret = parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = (b"msg_p5jXN8AQM9LWM0D4loKWxJek", b"1614265330", b'{"test": 2432232314}')
    assert sign([secret], *signed) == b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert fits([secret], *signed, b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    assert fits(
        [b"x" * 32, secret], *signed, b"v1a,AAAA v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )
    assert not fits(
        [secret], signed[0], b"1614265331", signed[2], b"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )
    assert not fits([], *signed, b"")


@pytest.mark.parametrize("text", ["", "whsec_", "whsec_%%%", "whsec_c2hvcnQ=", "whsec_" + "A" * 200])
def test_a_signing_secret_has_its_length(text):
    with pytest.raises(SpecError, match="24 to 64 bytes"):
        parse_secret(text)
    assert parse_secret(format_secret(b"x" * 24)) == b"x" * 24
