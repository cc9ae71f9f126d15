"""The documents tell the truth: links lead somewhere, commands print what is shown, tables are run."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from detent.domain.cron import parse_cron
from detent.domain.instant import instant_of, seconds_of
from detent.domain.wallclock import Fold, Gap, WallClock
from detent.domain.zone import zone
from tests.cli.run import detent
from tools import requirements

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_page_of_requirements_is_current():
    assert requirements.PAGE.read_text("utf-8") == requirements.page(), "run: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_commands_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", page.read_text("utf-8"))) <= targets


def shown_commands() -> list[tuple[str, str]]:
    """Command and output of each console block of the README."""
    blocks = re.findall(
        r"```console\n\$ \.venv/bin/detent (.*?)\n(.*?)```",
        (ROOT / "README.md").read_text("utf-8"),
        re.DOTALL,
    )
    assert blocks
    return blocks


@pytest.mark.parametrize(("command", "output"), shown_commands())
def test_the_readme_shows_what_is_printed(command, output):
    ran = detent(*shlex.split(command))
    assert ran.stdout + ran.stderr == output


def glossary_table() -> list[list[str]]:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    rows = text.partition("| expression | zone |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


# R-TIME-4
@pytest.mark.parametrize(("expression", "where", "gap", "fold", "day", "fires", "_why"), glossary_table())
def test_the_table_of_clock_changes_is_true(expression, where, gap, fold, day, fires, _why):
    rules = zone(where)
    rule = WallClock(parse_cron(expression.strip("`")), rules, Gap(gap), Fold(fold))
    slot: datetime | None = datetime.fromisoformat(day).replace(tzinfo=UTC) - timedelta(days=2)
    walls = []
    while (slot := rule.next(slot)) is not None and len(walls) < 200:
        wall = instant_of(seconds_of(slot) + rules.offset_at(seconds_of(slot)))
        if f"{wall:%Y-%m-%d}" > day:
            break
        if f"{wall:%Y-%m-%d}" == day:
            walls.append(f"{wall:%H:%M}")
    stated = [] if fires == "never" else fires.removesuffix(", …").split(", ")
    said = [time.split(" ")[0] for time in stated]
    assert walls[: len(said)] == said
    assert fires.endswith("…") or len(walls) == len(said)
