from __future__ import annotations

from detent.domain.crontab import BadLine, Entry, read_crontab
from detent.domain.zone import zone

CRONTAB = """\
# a comment
SHELL=/bin/bash
MAILTO="me@example.com"

30 2 * * *   /usr/bin/backup --all
  CRON_TZ = Europe/Berlin
@daily\t/usr/bin/report
@every 5m /usr/bin/poll
*/5\t*  * * * a % b
CRON_TZ=
0 0 * * * /bin/true # not a comment in cron
"""


def test_entries_know_their_line_their_zone_and_where_the_expression_stands():
    entries = list(read_crontab(CRONTAB, zone("UTC")))
    assert all(isinstance(entry, Entry) for entry in entries)
    assert [(e.line, e.expression, e.column, e.zone.name, e.command) for e in entries] == [
        (5, "30 2 * * *", 0, "UTC", "/usr/bin/backup --all"),
        (7, "@daily", 0, "Europe/Berlin", "/usr/bin/report"),
        (8, "@every 5m", 0, "Europe/Berlin", "/usr/bin/poll"),
        (9, "*/5\t*  * * *", 0, "Europe/Berlin", "a % b"),
        (11, "0 0 * * *", 0, "UTC", "/bin/true # not a comment in cron"),
    ]


def test_system_crontabs_have_a_user():
    (entry,) = read_crontab("17 * * * * root cd / && run-parts", zone("UTC"), system=True)
    assert (entry.expression, entry.command) == ("17 * * * *", "cd / && run-parts")
    (entry,) = read_crontab("0 5 * * *\troot\tbackup --all", zone("UTC"), system=True)
    assert entry.command == "backup --all"
    (bad,) = read_crontab("17 * * * * root", zone("UTC"), system=True)
    assert isinstance(bad, BadLine)
    assert bad.error.code == "no_command"


def test_bad_lines_are_reported_and_the_others_read_on():
    text = "CRON_TZ=EST\n0 0 * * *\n" + "x" * 10_001 + "\n @daily\n0 0 * * * fine\nCRON_TZ = 'C'\n"
    found = list(read_crontab(text, zone("UTC")))
    bad = [(line.line, line.error.code, line.error.position) for line in found if isinstance(line, BadLine)]
    assert bad == [
        (1, "ambiguous_zone", 8),
        (2, "no_command", 0),
        (3, "too_long", 0),
        (4, "no_command", 1),
        (6, "unknown_zone", 11),
    ]
    assert [entry.line for entry in found if isinstance(entry, Entry)] == [5]
