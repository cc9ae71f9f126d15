from __future__ import annotations

import json

from tests.cli.run import detent

GOOD = "CRON_TZ=Europe/Berlin\n0 9 * * MON-FRI /usr/bin/report\n"
BAD = "61 * * * * /bin/a\n  0 0 * * FRY /bin/b\n@reboot /bin/c\n0 0 30 2 * /bin/d\n"


def test_a_good_crontab_is_silent_and_exits_0(tmp_path):
    (tmp_path / "good").write_text(GOOD)
    done = detent("lint", str(tmp_path / "good"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 errors, 0 warnings\n")


# R-TIME-9
def test_errors_have_a_caret_under_the_token_and_exit_1(tmp_path):
    file = tmp_path / "bad"
    file.write_text(BAD)
    done = detent("lint", str(file))
    assert done.returncode == 1
    assert done.stdout.splitlines()[:6] == [
        f'{file}:1: error: minute "61" is out of range: allowed is 0-59 [out_of_range]',
        "  61 * * * * /bin/a",
        "  ^^",
        f'{file}:2: error: day of week "FRY" is no day of week: allowed is 0-7 or SUN-SAT (0 and 7 are Sunday), 5L or'
        " 2#1 [bad_value]",
        "    0 0 * * FRY /bin/b",
        "            ^^^",
    ]
    assert done.stderr == "4 errors, 0 warnings\n"


# R-TIME-4
def test_clock_changes_are_warned_of_and_strict_makes_them_count():
    crontab = b"CRON_TZ=America/New_York\n30 2 * * * /usr/bin/backup\n"
    done = detent("lint", "-", "--after", "2026-01-01T00:00:00Z", stdin=crontab)
    assert done.returncode == 0
    assert "-:2: warning: 2026-03-08: 02:30 does not exist in America/New_York" in done.stdout
    assert detent("lint", "-", "--strict", stdin=crontab).returncode == 1
    remarks = [json.loads(line) for line in detent("lint", "-", "--json", stdin=crontab).stdout.splitlines()]
    assert {remark["code"] for remark in remarks} == {"dst_gap"}
    assert {remark["severity"] for remark in remarks} == {"warning"}


def test_what_is_said_of_a_zone_is_said_once():
    crontab = (
        b"CRON_TZ=US/Arizona\n0 9 * * * a\n0 10 * * * b\nCRON_TZ=Etc/GMT+5\n*/7 * * * * c\n*/7 * * * * d\n"
    )
    remarks = [json.loads(line) for line in detent("lint", "-", "--json", stdin=crontab).stdout.splitlines()]
    assert [(remark["line"], remark["code"]) for remark in remarks] == [
        (2, "old_zone_name"),
        (5, "uneven_step"),
        (5, "posix_sign"),
        (6, "uneven_step"),
    ]


def test_system_crontabs(tmp_path):
    (tmp_path / "crontab").write_text("17 * * * * root run-parts\n")
    assert detent("lint", "--system", str(tmp_path / "crontab")).returncode == 0
    (tmp_path / "crontab").write_text("17 * * * * root\n")
    assert detent("lint", "--system", str(tmp_path / "crontab")).returncode == 1


def test_files_that_cannot_be_used_exit_2(tmp_path):
    missing = detent("lint", str(tmp_path / "none"))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "No such file" in missing.stderr
    assert detent("lint", str(tmp_path)).returncode == 2
    (tmp_path / "large").write_bytes(b"#" * (11 << 20))
    assert "larger than 10 MiB" in detent("lint", str(tmp_path / "large")).stderr
    assert detent("lint", "-", "--tz", "EST").returncode == 2


def test_bytes_that_are_no_text_are_errors_not_crashes(tmp_path):
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 20)
    done = detent("lint", str(tmp_path / "binary"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
