from __future__ import annotations

import json

import pytest

from tests.cli.run import detent


# R-TIME-8
def test_slots_in_the_schedules_zone_utc_and_the_readers():
    done = detent(
        "next", "30 2 * * *", "--tz", "America/New_York", "--after", "2026-03-07T00:00:00Z", "--count", "3",
        TZ="Europe/Berlin",
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "At 02:30, every day (America/New_York)",
        "",
        "  America/New_York             UTC                          Europe/Berlin",
        "  Sat 2026-03-07 02:30 -05:00  Sat 2026-03-07 07:30 +00:00  Sat 2026-03-07 08:30 +01:00",
        "  Sun 2026-03-08 03:00 -04:00  Sun 2026-03-08 07:00 +00:00  Sun 2026-03-08 08:00 +01:00"
        "  <- moved: 02:30 does not exist on this day",
        "  Mon 2026-03-09 02:30 -04:00  Mon 2026-03-09 06:30 +00:00  Mon 2026-03-09 07:30 +01:00",
        "",
        "  note: 2026-03-08: 02:30 does not exist in America/New_York: fires once at 03:00, the first moment after the"
        " gap (2026-03-08T07:00:00Z)",
        "  note: 2027-03-14: 02:30 does not exist in America/New_York: fires once at 03:00, the first moment after the"
        " gap (2027-03-14T07:00:00Z)",
    ]


# R-TIME-4
def test_repeated_times_are_marked():
    done = detent(
        "next", "30 1 * * *", "--tz", "America/New_York", "--after", "2026-11-01T00:00:00Z", "--count", "2",
        "--fold", "both",
    )  # fmt: skip
    assert "<- the first of two 01:30" in done.stdout
    assert "<- the second of two 01:30" in done.stdout


def test_json():
    done = detent(
        "next", "15 30 2 * * *", "--tz", "America/New_York", "--after", "2026-03-08T00:00:00Z", "--count", "1", "--json",
        "--gap", "shift", "--reader-tz", "Asia/Kolkata",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["description"] == "At 02:30:15, every day (America/New_York)"
    assert found["next"] == [
        {
            "utc": "2026-03-08T07:30:15Z",
            "local": "2026-03-08T03:30:15-04:00",
            "reader": "2026-03-08T13:00:15+05:30",
            "origin": "gap",
            "nominal": "2026-03-08T02:30:15",
        }
    ]
    assert found["warnings"][0]["code"] == "dst_gap"
    assert found["warnings"][0]["at"] == "2026-03-08T07:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["61 * * * *"], ['detent: minute "61" is out of range: allowed is 0-59', "  61 * * * *", "  ^^"]),
        (
            ["0 0 * * MON-FRY"],
            [
                'detent: day of week "FRY" is no day of week: allowed is 0-7 or SUN-SAT (0 and 7 are Sunday), 5L or 2#1',
                "  0 0 * * MON-FRY",
                "              ^^^",
            ],
        ),
        (
            ["* * * * *", "--tz", "EST"],
            ['detent: "EST" is ambiguous: use America/New_York or Etc/GMT+5', "  EST", "  ^^^"],
        ),
        (["* * * * *", "--after", "tomorrow"], ["  tomorrow", "  ^^^^^^^^"]),
        (["* * * * *", "--reader-tz", "x"], ["  x", "  ^"]),
        (["0 0 30 2 *"], ["detent: never fires: no February has a day 30", "  0 0 30 2 *", "      ^^"]),
        (["@every 5x"], ["  @every 5x", "         ^^"]),
        (["0\t0 * * FOO"], ["  0 0 * * FOO", "          ^^^"]),
        (["*\x1b[31m * * * *"], ["  *?[31m * * * *", "   ^"]),
    ],
)
def test_a_wrong_expression_prints_a_caret_under_the_token_and_exits_2(arguments, lines):
    done = detent("next", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-len(lines) :] == lines


def test_a_wrong_expression_as_json():
    done = detent("next", "61 * * * *", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == {
        "code": "out_of_range",
        "message": 'minute "61" is out of range: allowed is 0-59',
        "field": "expr",
        "token": "61",
        "position": 0,
    }


@pytest.mark.parametrize(
    "arguments", [["next"], ["next", "* * * * *", "--count", "0"], ["next", "* * * * *", "--gap", "x"]]
)
def test_wrong_options_exit_2(arguments):
    done = detent(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_expressions_that_are_not_cron():
    every = detent("next", "@every 90m", "--after", "2026-11-19T08:00:00Z", "--count", "2")
    assert "Thu 2026-11-19 09:30 +00:00" in every.stdout
    rule = detent("next", "FREQ=WEEKLY;BYDAY=MO", "--after", "2026-11-19T08:00:00Z", "--count", "1")
    assert "Mon 2026-11-23 08:00 +00:00" in rule.stdout


def test_the_system_zone_is_the_readers_unless_it_is_unknown():
    assert "Asia/Tokyo" in detent("next", "* * * * *", TZ=":Asia/Tokyo").stdout
    assert detent("next", "* * * * *", TZ="EST5EDT").returncode == 0


def test_a_reader_that_goes_away_is_no_error():
    import subprocess
    import sys

    pipe = subprocess.Popen(
        [sys.executable, "-m", "detent", "next", "* * * * *", "--count", "10000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pipe.stdout.readline()
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    assert pipe.wait(timeout=30) in (0, 1)
    pipe.stderr.close()


def test_version():
    from detent import __version__
    from detent.domain.zone import TZDATA_VERSION

    assert f"detent {__version__}\ntzdata {TZDATA_VERSION}\n" in detent("version").stdout
    assert json.loads(detent("version", "--json").stdout)["tzdata"] == TZDATA_VERSION


def test_it_starts_without_what_only_other_commands_need():
    import subprocess
    import sys

    program = "import sys, detent.cli.main; print({'asyncpg', 'uvloop'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
