"""URLs: one way to write each, and none to say two things."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.domain.errors import SpecError
from detent.domain.http.address import not_public
from detent.domain.http.reach import PUBLIC, parse_reach
from detent.domain.http.url import MAX_URL, parse_url


# R-TARGET-1
@pytest.mark.parametrize(
    ("text", "host", "port", "target", "again"),
    [
        ("https://example.com", "example.com", 443, "/", "https://example.com/"),
        ("HTTPS://Example.COM/A?b=C", "example.com", 443, "/A?b=C", "https://example.com/A?b=C"),
        ("http://a-b_c.example.com:8080?x", "a-b_c.example.com", 8080, "/?x", "http://a-b_c.example.com:8080/?x"),
        ("https://xn--mnchen-3ya.de:443/", "xn--mnchen-3ya.de", 443, "/", "https://xn--mnchen-3ya.de/"),
        ("https://8.8.8.8/", "8.8.8.8", 443, "/", "https://8.8.8.8/"),
        ("https://[2606:4700:0::1111]:8443/", "2606:4700::1111", 8443, "/", "https://[2606:4700::1111]:8443/"),
        ("https://a.b/%C3%A9/?q=%20[1]&x=;:@", "a.b", 443, "/%C3%A9/?q=%20[1]&x=;:@", "https://a.b/%C3%A9/?q=%20[1]&x=;:@"),
    ],
)  # fmt: skip
def test_urls_are_read(text, host, port, target, again):
    url = parse_url(text)
    assert (url.host, url.port, url.target, str(url)) == (host, port, target, again)
    assert parse_url(str(url)) == url


# R-TARGET-3
@pytest.mark.parametrize(
    ("text", "token", "message"),
    [
        ("", "", "begins with https://"),
        ("example.com/hook", "example.com/hook", "begins with https://"),
        ("ftp://example.com/", "ftp", "begins with https://"),
        ("javascript:alert(1)", "javascript", "begins with https://"),
        ("https:example.com", "https", "begins with https://"),
        ("https:///example.com", "https", "begins with https://"),
        ("https:/example.com", "https", "begins with https://"),
        ("https:////example.com", "https", "begins with https://"),
        ("https://", "//", "a URL has a host"),
        ("https://user:pass@example.com/", "user:pass@example.com", "carries no credentials"),
        ("https://example.com@evil.com/", "example.com@evil.com", "carries no credentials"),
        ("https://good.com#@evil.com/", "#", "never sent"),
        ("https://good.com\\@evil.com/", "\\", "not backslashes"),
        ("https:\\\\evil.com/", "\\", "not backslashes"),
        ("https://127.1/", "127.1", "no IPv4 address"),
        ("https://0/", "0", "no IPv4 address"),
        ("https://0x7f000001/", "0x7f000001", "no IPv4 address"),
        ("https://0177.0.0.1/", "0177.0.0.1", "no IPv4 address"),
        ("https://2130706433/", "2130706433", "no IPv4 address"),
        ("https://1.2.3.4.5/", "1.2.3.4.5", "no IPv4 address"),
        ("https://1.2.3.0x4/", "1.2.3.0x4", "no IPv4 address"),
        ("https://example.123/", "example.123", "no IPv4 address"),
        ("https://①②⑦.⓪.⓪.①/", "①", "written in ASCII"),
        ("https://127。0。0。1/", "。", "written in ASCII"),
        ("https://exаmple.com/", "а", "written in ASCII"),  # a Cyrillic letter
        ("https://example.com/é", "é", "written in ASCII"),
        ("https://example.com./", "example.com.", "leave out the dot at its end"),
        ("https://.example.com/", ".example.com", "no name of a host"),
        ("https://a..b/", "a..b", "no name of a host"),
        ("https://-a.com/", "-a.com", "no name of a host"),
        ("https://%65xample.com/", "%65xample.com", "no name of a host"),
        ("https://exa mple.com/", " ", "%20"),
        ("https://[::1/", "[:", "no name of a host"),
        ("https://[::1%25eth0]/", "[::1%25eth0]", "no IPv6 address"),
        ("https://[127.0.0.1]/", "[127.0.0.1]", "no IPv6 address"),
        ("https://[v1.x]/", "[v1.x]", "no IPv6 address"),
        ("https://a.com:0/", "0", "a port is"),
        ("https://a.com:65536/", "65536", "a port is"),
        ("https://a.com:8x/", "8x", "a port is"),
        ("https://a.com:/", ":", "a port is"),
        ("https://a.com/\r\nHost: b", "\r", "no line breaks"),
        ("https://a.com/\n", "\n", "no line breaks"),
        ("https://a.com/\0", "\0", "no control characters"),
        ("https://a.com/\t", "\t", "no tabs"),
        ("https://a.com/<b>", "<", "%3C"),
        ("https://a.com/%2", "%2", "%25"),
        ("https://a.com/{{ scheduled_for }}", " ", "%20"),
        ("https://a.com/{{scheduled_for}}", "{{", "templates stand in the payload"),
        ("https://a.com/" + "x" * MAX_URL, "https://a.com/" + "x" * 26, "at most 2048 characters"),
        ("https://" + "a" * 64 + ".com/", "a" * 40, "no name of a host"),
        ("https://" + "a." * 130 + "com/", ("a." * 130)[:40], "no name of a host"),
    ],
)  # fmt: skip
def test_what_can_be_meant_in_two_ways_is_refused(text, token, message):
    with pytest.raises(SpecError) as refused:
        parse_url(text)
    error = refused.value
    assert message in error.message
    assert (error.code, error.token) == ("bad_url", token)
    assert text[error.position :].startswith(error.token)


@pytest.mark.parametrize("text", [None, 7, b"https://a.com/", ["https://a.com/"], True])
def test_what_is_no_text_is_no_url(text):
    with pytest.raises(SpecError, match="a URL is a text"):
        parse_url(text)


@given(st.text(max_size=80) | st.builds("https://{}".format, st.text(max_size=40)))
def test_whatever_is_accepted_has_one_reading(text):
    try:
        url = parse_url(text)
    except SpecError:
        return
    assert parse_url(str(url)) == url
    assert str(url).isascii()
    assert not {" ", "\r", "\n", "\t", "\0", "\\", "#", "@"} & set(
        str(url).partition("://")[2].partition("/")[0]
    )


# R-TARGET-3
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1",
        "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "0.0.0.0", "0.1.2.3", "168.63.129.16",
        "192.88.99.1", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::a9fe:a9fe",
        "64:ff9b::808:808", "64:ff9b:1::1", "2002:a9fe:a9fe::", "2002:808:808::1", "2001::1", "2001:0:4136:e378::",
        "2001:db8::1", "2001:10::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fec0::1", "ff02::1",
        "3fff::1", "5f00::1", "100::1", "4000::1", "1::1",
    ],
)  # fmt: skip
def test_what_is_not_public_is_told_what_it_is(address):
    assert not_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.0.1.1", "223.255.255.255",
     "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "2400:cb00::1", "2620:fe::fe"],
)  # fmt: skip
def test_what_is_public_is_public(address):
    assert not_public(ip_address(address)) is None


# R-TARGET-3
@pytest.mark.parametrize(
    ("url", "allow", "plain", "why"),
    [
        ("https://127.0.0.1/", "", True, "this machine"),
        ("https://localhost/", "", True, "inner network"),
        ("https://app.localhost/", "", True, "inner network"),
        ("https://web/", "", True, "inner network"),
        ("https://metadata.google.internal/", "", True, "inner network"),
        ("https://printer.local/", "", True, "inner network"),
        ("https://169.254.169.254/", "localhost", True, "link-local"),
        ("http://example.com/", "", False, "not encrypted"),
        ("http://example.com/", "", True, None),
        ("https://example.com/", "", False, None),
        ("https://example.com:8443/", "", False, None),
        ("https://example.com:22/", "", False, "port 22"),
        ("https://example.com:25/", "", False, "port 25"),
        ("https://example.com:5432/", "", False, "port 5432"),
        ("https://example.com:6379/", "", False, "port 6379"),
        ("https://example.com:6379/", "example.com:6379", False, None),
        ("https://example.com:6380/", "example.com:6379", False, None),
        ("http://localhost:8000/", "localhost", False, None),
        ("http://localhost:8000/", "localhost:9000", False, "inner network"),
        ("http://127.0.0.1:8000/", "127.0.0.0/8", False, None),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000", False, None),
        ("http://127.0.0.1:8001/", "127.0.0.1:8000", False, "this machine"),
        ("http://[::1]:8000/", "::1", False, None),
        ("http://[::1]:8000/", "[::1]:8000", False, None),
        ("http://api.corp.example/", "*.corp.example", False, None),
        ("http://corp.example/", "*.corp.example", False, "not encrypted"),
        ("http://evilcorp.example/", "*.corp.example", False, "not encrypted"),
        ("http://WEB:80/", " Web , 10.0.0.0/8 ,", False, None),
    ],
)
def test_who_may_be_reached(url, allow, plain, why):
    reach = parse_reach(allow, plain=plain)
    if why is None:
        reach.refuse_url(parse_url(url))
    else:
        with pytest.raises(SpecError, match=why):
            reach.refuse_url(parse_url(url))


@pytest.mark.parametrize(
    "entry", ["a b", "http://x", "x/y", "10.0.0.0/99", "*", "*.", "a:b", "user@host", "é.com"]
)
def test_an_entry_that_is_none_is_refused(entry):
    with pytest.raises(SpecError, match="no entry of an allow-list"):
        parse_reach(entry)


def test_by_default_nobody_inside_is_reached():
    assert (PUBLIC.networks, PUBLIC.names, PUBLIC.families, PUBLIC.plain) == ((), frozenset(), (), False)
    assert parse_reach("") == PUBLIC
