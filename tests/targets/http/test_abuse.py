"""Whatever a server does, an attempt ends in time, with a reason, and holds a bounded part of what came."""

from __future__ import annotations

import asyncio
import gzip
import resource
import ssl

import pytest

from detent import clock
from detent.domain.settle import Outcome
from detent.targets.ending import Ended, Excerpt
from tests.sink import answers, endless, hang, in_turn, open_sink, reset, says, slow

HEAD = b"HTTP/1.1 200 OK\r\n"
MEGABYTE = 1 << 20
TIMEOUT = 0.6


async def timed(call, url, **spec):
    began = clock.monotonic()
    ended = await call(url, timeout="600ms", **spec)
    assert clock.monotonic() - began <= TIMEOUT + 1
    return ended


def rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# R-TARGET-1
@pytest.mark.parametrize(
    ("behaviour", "outcome", "code", "error"),
    [
        (hang, Outcome.TIMED_OUT, "timeout", "no whole answer in time"),
        (endless(HEAD + b"Content-Length: 100000\r\n\r\n", b"x", 0.1), Outcome.TIMED_OUT, "timeout", "in time"),
        (endless(b"HTTP/1.1 200 ", b"H", 0.1), Outcome.TIMED_OUT, "timeout", "in time"),
        (endless(HEAD, b"X-Drip: 1\r\n", 0.1), Outcome.TIMED_OUT, "timeout", "in time"),
        (endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.1), Outcome.TIMED_OUT, "timeout", "in time"),
        (endless(b"", b"HTTP/1.1 102 Wait\r\n\r\n", 0.1), Outcome.TIMED_OUT, "timeout", "in time"),
        (reset, Outcome.FAILED, "closed", "without an answer"),
        (says(), Outcome.FAILED, "closed", "without an answer"),
        (says(b"HTTP/1.1 20"), Outcome.FAILED, "closed", "within the answer"),
        (says(HEAD + b"Content-Length: 10\r\n\r\nhalf"), Outcome.FAILED, "closed", "within the answer"),
        (says(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhal"), Outcome.FAILED, "closed", "within the answer"),
        (says(b"\x16\x03\x01\x00\xff" * 50), Outcome.FAILED, "malformed", "no HTTP"),
        (says(b"SSH-2.0-OpenSSH_9\r\n"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(b"HTTP/1.1 999999 Fine\r\n\r\n"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(HEAD + b"Content-Length: -1\r\n\r\n"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nokk"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), Outcome.FAILED, "malformed", ""),
        (says(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(HEAD + b"Bad Header: x\r\n\r\n"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(HEAD + b"X: a\0b\r\n\r\n"), Outcome.FAILED, "malformed", "no HTTP"),
        (says(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), Outcome.FAILED, "malformed", "protocol"),
        (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), Outcome.FAILED, "malformed", "informational"),
        (says(HEAD + b"X-Long: " + b"y" * MEGABYTE + b"\r\n\r\n"), Outcome.FAILED, "malformed", "longer than 64 KiB"),
        (endless(HEAD, b"X-Many: 1\r\n"), Outcome.FAILED, "malformed", "longer than 64 KiB"),
        (endless(b"HTTP/1.1 200 ", b"x" * 1000), Outcome.FAILED, "malformed", "longer than 64 KiB"),
    ],
)  # fmt: skip
async def test_an_attempt_ends_with_what_went_wrong(call, sink, behaviour, outcome, code, error):
    sink.behave("/bad", behaviour)
    ended = await timed(call, sink.url("/bad"))
    assert isinstance(ended, Ended), ended
    assert (ended.outcome, ended.code, ended.retryable) == (outcome, code, True)
    assert error in ended.error
    assert len(sink.received) == 1, "and it was sent once"
    assert isinstance(await call(sink.url("/fine")), Excerpt), "the next one is none the worse for it"


# R-TARGET-1
@pytest.mark.parametrize(
    "head",
    [HEAD + b"Content-Length: 1073741824\r\n\r\n", HEAD + b"\r\n", HEAD + b"Connection: close\r\n\r\n"],
)
async def test_of_an_answer_without_end_a_bounded_part_is_read(call, sink, head):
    sent = []

    def count(chunk):
        sent.append(len(chunk))
        return chunk

    before = rss_mb()
    sink.behave("/", endless(head, count(b"y" * MEGABYTE)))
    for _ in range(20):
        ended = await timed(call, sink.url())
        assert isinstance(ended, Excerpt), "its status was told"
        assert ended.startswith("200 yyy")
        assert len(ended) <= 1_004
    assert rss_mb() - before < 50


async def test_a_gzip_bomb_stays_packed(call, sink):
    bomb = gzip.compress(b"0" * 100 * MEGABYTE, 9)
    before = rss_mb()
    sink.behave("/", answers(200, bomb, "Content-Encoding: gzip"))
    assert await timed(call, sink.url(), max_response=MEGABYTE) == f"200 [{len(bomb)} bytes, gzip]"
    assert rss_mb() - before < 50
    assert "accept-encoding: identity" in [line.lower() for line in sink.received[0].lines]


async def test_what_comes_after_an_answer_is_never_taken_for_the_next_one(call, sink):
    """Two answers to one request: the second one would be read by whoever uses the connection next."""
    smuggled = HEAD + b"Content-Length: 4\r\n\r\nevil"
    sink.behave("/two", says(HEAD + b"Content-Length: 2\r\n\r\nok" + smuggled, then_close=False))
    sink.behave("/rest", says(HEAD + b"Content-Length: 2\r\n\r\nok" + b"HTTP/1.1 2", then_close=False))
    for path in ("/two", "/rest"):
        assert await call(sink.url(path)) == "200 ok"
        assert await call(sink.url("/next")) == "200 ok"
    assert sink.connections >= 3


async def test_answers_of_every_ordinary_kind_are_understood(call, sink):
    sink.behave(
        "/early",
        says(
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nok",
            then_close=False,
        ),
    )
    sink.behave(
        "/chunks",
        says(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n", b"1\r\nk\r\n0\r\n\r\n", then_close=False
        ),
    )
    sink.behave("/old", says(b"HTTP/1.0 200 OK\r\n\r\nok"))
    sink.behave("/empty", says(b"HTTP/1.1 204 No Content\r\n\r\n", then_close=False))
    sink.behave("/slow", slow(0.1))
    for path in ("/early", "/chunks", "/old", "/slow"):
        assert await call(sink.url(path)) == "200 ok"
    assert await call(sink.url("/empty")) == "204"
    sink.behave("/head", says(HEAD + b"Content-Length: 1000\r\n\r\n", then_close=False))
    assert await call(sink.url("/head"), method="HEAD") == "200"


# R-TARGET-1
async def test_a_closed_port_and_a_connection_that_is_not_taken_end_in_time(call, sink):
    import socket

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        ended = await timed(call, f"http://127.0.0.1:{bound.getsockname()[1]}/")
        assert (ended.outcome, ended.code) == (Outcome.FAILED, "connect")
    with socket.socket() as full:  # its queue is full: further ones are neither taken nor refused
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        began = clock.monotonic()
        ended = await call(
            f"http://127.0.0.1:{full.getsockname()[1]}/", timeout="3s", connect_timeout="300ms"
        )
        assert clock.monotonic() - began < 1.3
        assert (ended.outcome, ended.code) == (Outcome.TIMED_OUT, "connect_timeout")
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize("junk", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x16\x03\x03\xff\xff" + b"\0" * 99])
async def test_a_server_that_speaks_no_tls_is_told_apart(call, junk):
    def babble(_, writer):
        writer.write(junk)
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        ended = await timed(call, f"https://127.0.0.1:{port}/")
    assert (ended.outcome, ended.code) in {(Outcome.FAILED, "tls"), (Outcome.FAILED, "connect")}


async def test_a_certificate_of_nobody_is_refused(call, tmp_path):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*_certificate(tmp_path))
    async with open_sink(tls) as sink:
        ended = await timed(call, sink.url())
        assert (ended.code, ended.retryable) == ("tls", True)
        assert "certificate" in ended.error.lower()
        assert not sink.received


async def test_connections_are_kept_while_they_are_of_use(call, sink):
    for _ in range(5):
        assert await call(sink.url()) == "200 ok"
    assert sink.connections == 1
    sink.behave("/last", answers(200, b"ok", "Connection: close"))
    for _ in range(3):
        assert await call(sink.url("/last")) == "200 ok"
    assert sink.connections == 3


async def test_a_request_whose_connection_was_closed_meanwhile_is_not_sent_twice(call, sink):
    """One attempt, one delivery: what the server did with it before it closed, nobody knows."""
    sink.behave("/", in_turn(answers(200, b"ok"), reset, answers(200, b"ok")))
    assert await call(sink.url()) == "200 ok"
    assert (await call(sink.url())).code == "closed"
    assert len(sink.received) == 2


def _certificate(folder) -> tuple[str, str]:
    import subprocess

    key, certificate = str(folder / "key.pem"), str(folder / "cert.pem")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
            "-keyout", key, "-out", certificate]  # fmt: skip
    subprocess.run(made, check=True, capture_output=True)
    return certificate, key
