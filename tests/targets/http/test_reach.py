"""Nobody is reached who must not be, whatever names lead to, whenever they lead elsewhere."""

from __future__ import annotations

import pytest

from detent.domain.settle import Outcome
from tests.dns import AAAA, CNAME, A, open_dns
from tests.sink import answers, open_sink

INNER = "hook.example.com"


@pytest.fixture
async def dns():
    async with open_dns() as opened:
        yield opened


@pytest.fixture
def stranger(caller, dns):
    """A caller that nothing is allowed, but to speak http."""
    return caller("", (dns.address,), plain=True)


async def refused(call, url, **spec):
    ended = await call(url, **spec)
    assert (ended.outcome, ended.code, ended.retryable) == (Outcome.FAILED, "refused", False), ended
    return ended.error


# R-TARGET-3
@pytest.mark.parametrize(
    "records",
    [
        [A("127.0.0.1")],
        [A("10.1.2.3")],
        [A("169.254.169.254")],
        [A("192.0.0.192")],
        [A("100.100.100.200")],
        [A("0.0.0.0")],
        [A("224.0.0.1")],
        [AAAA("::1")],
        [AAAA("::ffff:127.0.0.1")],
        [AAAA("64:ff9b::a9fe:a9fe")],
        [AAAA("2002:a9fe:a9fe::")],
        [AAAA("fd00:ec2::254")],
        [AAAA("::127.0.0.1")],
        [A("8.8.8.8"), A("127.0.0.1")],
        [A("8.8.8.8"), AAAA("::1")],
        [A("127.0.0.1"), AAAA("2606:4700::1111")],
        [CNAME("internal.example.net")],
    ],
)
async def test_a_name_that_leads_inside_is_refused(stranger, dns, records):
    async with open_sink() as sink:
        dns.answer(INNER, *records)
        dns.answer("internal.example.net", A("127.0.0.1"))
        error = await refused(stranger, f"http://{INNER}:{sink.port}/")
        assert "it leads to" in error
        assert sink.connections == 0, "nobody knocked"


# R-TARGET-3
async def test_what_a_name_leads_to_is_looked_at_once_and_connected_to(caller, dns):
    """Rebinding: the name leads outside when it is looked at, and inside a moment later. Or the other way round: then
    there are two servers, and the one that was checked is the one that is asked."""
    async with open_sink(host="127.0.0.1") as first, open_sink(host="127.0.0.2") as second:
        second_port = second.port
        call = caller("127.0.0.1/32", (dns.address,), plain=True)
        dns.in_turn(INNER, [A("127.0.0.1")], [A("127.0.0.2")], [A("127.0.0.2")])
        assert await call(f"http://{INNER}:{first.port}/") == "200 ok"
        await call.client.close()
        error = await refused(call, f"http://{INNER}:{second_port}/")
        assert "127.0.0.2" in error
        assert (len(first.received), second.connections) == (1, 0)
        assert first.received[0].headers["host"] == f"{INNER}:{first.port}"


async def test_a_retry_is_checked_anew(stranger, dns):
    async with open_sink() as sink:
        dns.in_turn(INNER, [A("10.0.0.1")], [A("127.0.0.1")])
        for address in ("10.0.0.1", "127.0.0.1"):
            assert address in await refused(stranger, f"http://{INNER}:{sink.port}/")


# R-TARGET-3
@pytest.mark.parametrize(
    "allow", ["127.0.0.0/8", "127.0.0.1", INNER, "*.example.com", "10.0.0.0/8, hook.example.com"]
)
async def test_the_allow_list_admits_networks_names_and_families(caller, dns, allow):
    async with open_sink() as sink:
        dns.answer(INNER, A("127.0.0.1"))
        assert await caller(allow, (dns.address,), plain=True)(f"http://{INNER}:{sink.port}/") == "200 ok"


async def test_a_name_with_its_port_admits_that_port_alone(caller, dns):
    async with open_sink() as sink:
        dns.answer("web", A("127.0.0.1"))
        call = caller(f"web:{sink.port}", (dns.address,))
        assert await call(f"http://web:{sink.port}/") == "200 ok"
        await refused(call, "http://web:1/")


async def test_a_name_on_the_list_does_not_admit_metadata(caller, dns):
    dns.answer(INNER, A("169.254.169.254"))
    await refused(caller(INNER, (dns.address,)), f"http://{INNER}/", timeout="1s")


@pytest.mark.parametrize(
    ("to", "error"),
    [
        ("http://127.0.0.2:{port}/", "127.0.0.2 is this machine"),
        ("http://inside.example.com:{port}/", "it leads to 127.0.0.2"),
        ("http://[::1]:{port}/", "::1 is this machine"),
        ("http://169.254.169.254/latest/", "link-local"),
        ("http://outside.example.com:6379/", "port 6379"),
        ("http://localhost:{port}/", "inner network"),
    ],
)
async def test_a_redirect_is_checked_like_any_other_url(caller, dns, to, error):
    async with open_sink() as sink, open_sink(host="127.0.0.2") as inside:
        dns.answer("inside.example.com", A("127.0.0.2"))
        dns.answer("outside.example.com", A("8.8.8.8"))
        sink.behave("/", answers(307, b"", f"Location: {to.format(port=inside.port)}"))
        call = caller("127.0.0.1", (dns.address,), plain=True)
        assert error in await refused(call, sink.url(), redirects=3)
        assert inside.connections == 0


@pytest.mark.parametrize("to", ["file:///etc/passwd", "gopher://x/", "http://u:p@127.0.0.1/", "//\\evil", ""])
async def test_a_redirect_to_what_is_no_url_of_ours_is_a_failure(call, sink, to):
    sink.behave("/", answers(302, b"", f"Location: {to}"))
    ended = await call(sink.url(), redirects=3)
    assert (ended.code, ended.retryable) == ("302", False)


# R-TARGET-3
async def test_proxies_of_the_environment_are_ignored(call, sink, monkeypatch):
    async with open_sink() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        assert await call(sink.url()) == "200 ok"
        assert (len(sink.received), proxy.connections) == (1, 0)


async def test_a_name_that_leads_nowhere_is_a_failure_that_may_pass(stranger, dns):
    ended = await stranger("https://nowhere.example.com/")
    assert (ended.outcome, ended.code, ended.retryable) == (Outcome.FAILED, "dns", True)
    assert "no such host" in ended.error
    assert {name for name, _ in dns.asked} == {"nowhere.example.com"}, "no search domains"


async def test_a_name_server_that_says_nothing_keeps_nobody_longer_than_his_time(stranger, dns):
    dns.silent = True
    ended = await stranger("https://slow.example.com/", timeout="500ms")
    assert (ended.outcome, ended.code) == (Outcome.TIMED_OUT, "connect_timeout")


async def test_an_answer_is_kept_for_its_time_to_live(caller, dns):
    async with open_sink() as sink:
        dns.answer("kept.example.com", A("127.0.0.1", ttl=60))
        dns.answer("moves.example.com", A("127.0.0.1", ttl=0))
        for name, most in (("kept.example.com", 1), ("moves.example.com", 3)):
            call = caller("127.0.0.1", (dns.address,), plain=True)
            sink.behave("/", answers(200, b"ok", "Connection: close"))
            for _ in range(3):
                assert await call(f"http://{name}:{sink.port}/") == "200 ok"
            assert dns.asked.count((name, "A")) == most


async def test_of_several_addresses_one_that_answers_is_enough(caller, dns):
    async with open_sink() as sink:
        dns.answer(INNER, A("127.0.0.9"), A("127.0.0.1"))
        call = caller("127.0.0.0/8", (dns.address,), plain=True)
        assert await call(f"http://{INNER}:{sink.port}/") == "200 ok"
