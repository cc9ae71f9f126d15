"""The shape of the code: what `style.md` asks for and a machine can hold."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULE_LINES, FUNCTION_LINES = 400, 60
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc", "core", "lib"}

# May only shrink.
LONG_MODULES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()


@cache
def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@cache
def modules() -> list[Path]:
    return [
        path for path in tracked() if path.suffix == ".py" and "detent" in path.relative_to(ROOT).parts[:1]
    ]


def functions(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_modules_are_short():
    long = {str(p.relative_to(ROOT)) for p in modules() if len(p.read_text().splitlines()) > MODULE_LINES}
    assert long == LONG_MODULES


def test_functions_are_short():
    """Counted from the first statement behind the signature: options of a command are data, not code."""
    long = {
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in modules()
        for node in functions(path)
        if node.end_lineno - node.body[0].lineno + 1 > FUNCTION_LINES
    }
    assert long == LONG_FUNCTIONS


def test_modules_are_named_after_a_concept():
    assert not [p for p in modules() if p.stem in BANNED_NAMES or p.parent.name in BANNED_NAMES]


def test_every_module_says_what_it_is_for():
    silent = [
        p for p in modules() if p.read_text().strip() and not ast.get_docstring(ast.parse(p.read_text()))
    ]
    assert not silent


def test_broad_excepts_stand_in_the_runner_and_the_executor_alone():
    broad = re.compile(r"except\s*(?:\(?\s*(?:Base)?Exception\b|:)")
    assert not [p for p in modules() if broad.search(p.read_text()) and p.stem not in ("runner", "executor")]


def test_there_are_no_unfinished_ends():
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError")
    assert not [p for p in modules() if marks.search(p.read_text())]


@pytest.mark.parametrize(
    "wrong", [r"https?://[^\s\"')]*(?:pypi|pythonhosted|npmjs|debian)\.", r"/(?:work|home|root)/\w"]
)
def test_no_registry_host_and_no_path_of_a_machine_is_committed(wrong):
    found = []
    for path in tracked():
        if path.suffix not in (".png", ".ico", ".woff2") and path != Path(__file__):
            found += [(path, m[0]) for m in re.finditer(wrong, path.read_text(errors="replace"))]
    assert not found


def test_tests_do_not_sleep():
    sleeping = re.compile(r"\btime\.sleep\(|asyncio\.sleep\((?!0\))")
    assert not [
        p for p in (ROOT / "tests").rglob("*.py") if sleeping.search(p.read_text()) and p != Path(__file__)
    ]
