from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.cli.run import detent

AFTER = "2026-03-07T12:00:00Z"


def answers(*lines: object) -> list[dict]:
    stdin = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    done = detent("next", "--jsonl", stdin=stdin)
    assert done.returncode == 0
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


# R-TIME-8
def test_one_answer_a_line_in_order():
    new_york = {"expr": "30 2 * * *", "tz": "America/New_York", "after": AFTER, "count": 2}
    assert answers(
        new_york,
        {**new_york, "gap": "shift", "fold": "both"},
        {"expr": "@every 90s", "tz": "UTC", "after": AFTER, "count": 2},
        {"expr": "@daily", "tz": "Europe/Berlin", "after": AFTER, "count": 1},
        {"expr": "0 0 29 2 *", "after": AFTER, "count": 3},
        {"expr": "0 0 0 1 1 ? 2027-2028", "after": AFTER, "count": 9},
        {"expr": "* * * * *", "after": "2026-03-07T13:00:00.500+01:00", "count": 1},
    ) == [
        {"next": ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]},
        {"next": ["2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"]},
        {"next": ["2026-03-07T12:01:30Z", "2026-03-07T12:03:00Z"]},
        {"next": ["2026-03-07T23:00:00Z"]},
        {"next": ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", "2036-02-29T00:00:00Z"]},
        {"next": ["2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"]},
        {"next": ["2026-03-07T12:01:00Z"]},
    ]


def test_h_needs_the_same_identity_for_the_same_answer():
    line = {"expr": "H H * * *", "after": AFTER, "count": 1}
    first, again, other = answers(
        {**line, "identity": "a"}, {**line, "identity": "a"}, {**line, "identity": "b"}
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("line", "code", "position"),
    [
        ({"expr": "61 * * * *", "after": AFTER}, "out_of_range", 0),
        ({"expr": "0 0 * * FRY", "after": AFTER}, "bad_value", 8),
        ({"expr": "0 0 30 2 *", "after": AFTER}, "never_fires", 4),
        ({"expr": "0 0 0 1 1 ? 2020", "after": AFTER}, "never_fires", 0),
        ({"expr": "* * * * *", "tz": "EST"}, "ambiguous_zone", 0),
        ({"expr": "* * * * *", "after": "2026-03-07T12:00:00"}, "bad_instant", 0),
        ({"expr": "* * * * *", "after": 5}, "bad_instant", 0),
        ({"expr": "* * * * *", "count": 0}, "out_of_range", 0),
        ({"expr": "* * * * *", "count": True}, "out_of_range", 0),
        ({"expr": "* * * * *", "count": 1e9}, "out_of_range", 0),
        ({"expr": "* * * * *", "gap": "x"}, "bad_value", 0),
        ({"expr": "* * * * *", "identity": 5}, "not_a_text", 0),
        ({"expr": None}, "not_a_text", 0),
        ({"tz": "UTC"}, "missing_field", 0),
        ({"expr": "* * * * *", "timezone": "UTC"}, "unknown_field", 0),
        ([], "bad_json", 0),
        (b"nonsense", "bad_json", 0),
        (b"", "bad_json", 0),
        (b"\xff\xfe", "bad_json", 0),
        (b"[" * 50_000, "bad_json", 0),
        (b'{"expr": "' + b"*" * 100_000 + b'"}', "too_long", 0),
    ],
)
def test_a_bad_line_is_answered_with_its_error_and_the_next_one_is_read(line, code, position):
    bad, good = answers(line, {"expr": "* * * * *", "after": AFTER, "count": 1})
    assert (bad["error"]["code"], bad["error"]["position"]) == (code, position)
    assert bad["error"]["message"]
    assert good == {"next": ["2026-03-07T12:01:00Z"]}


def test_lines_are_answered_as_they_come():
    """Another program may ask, wait for the answer, and ask again."""
    with subprocess.Popen(
        [sys.executable, "-m", "detent", "next", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        for minute in (1, 2, 3):
            line = {"expr": f"{minute} * * * *", "after": AFTER, "count": 1}
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"next": [f"2026-03-07T12:0{minute}:00Z"]}
        process.stdin.close()


def test_a_hundred_thousand_lines_take_seconds():
    lines = [
        {"expr": f"{n % 60} {n % 24} * * *", "tz": "America/New_York", "after": AFTER, "count": 1 + n % 3}
        for n in range(100_000)
    ]
    stdin = "".join(json.dumps(line) + "\n" for line in lines).encode()
    begin = time.perf_counter()
    done = detent("next", "--jsonl", stdin=stdin)
    assert time.perf_counter() - begin < 20  # two are usual; this machine is shared
    assert done.stdout.count("\n") == 100_000


@pytest.mark.parametrize(
    "said", [["* * * * *"], ["--tz", "Europe/Berlin"], ["--count", "3"], ["--fold", "both"]]
)
def test_what_is_said_beside_the_stream_is_refused_not_ignored(said):
    done = detent("next", "--jsonl", *said)
    assert done.returncode == 2
    assert "from the lines of standard input" in done.stderr
