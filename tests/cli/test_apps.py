"""Finding the app that a command is given, and what a person is told when it isn't there or is broken."""

from __future__ import annotations

import pytest

from detent import Detent
from detent.app import AppError
from detent.cli.apps import tasks_of
from tests.cli.run import detent

GOOD = """
from detent import Detent, every
app = Detent("good")
other = Detent("other")

@app.task
async def work() -> None: ...
"""


@pytest.fixture
def declare(tmp_path, database):
    """`detent declare --app …` in a folder with these modules."""

    def run(reference: str, **modules: str):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        return detent("declare", "--app", reference, cwd=tmp_path, DETENT_DATABASE_URL=database)

    return run


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("jobs:ap", 'module jobs has no app "ap": it has app, other'),
        ("jobs", "module jobs has 2 apps: say which: jobs:app"),
        ("none:app", 'module none has no app "app": it has none: app = Detent() makes one'),
        ("none", "module none has 0 apps: app = Detent() makes one"),
        ("jbos:app", 'there is no module "jbos" in '),
        ("shop.jobs:app", 'there is no module "shop", which shop.jobs should lie in'),
        ("jobs.py:app", 'there is no module "jobs.py"'),
        ("a b", '"a b" names no app: write it as module:app'),
        (":app", '":app" names no app'),
        ("../jobs:app", '"../jobs:app" names no app'),
    ],
)
def test_an_app_that_is_not_there(declare, reference, message):
    done = declare(reference, jobs=GOOD, none="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("detent: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_mistake_in_an_app_is_shown_with_its_place(declare):
    wrong = GOOD + "\napp.schedule('x', every('1h'), work, team='ops')\n"
    done = declare("jobs:app", jobs=wrong)
    assert done.returncode == 2
    assert 'jobs.py:9: schedule "x": work can\'t be called with these arguments' in done.stderr
    assert "Traceback" not in done.stderr


def test_what_an_app_needs_and_is_not_installed_is_named(declare):
    done = declare("jobs:app", jobs="import pandas_of_nowhere\n" + GOOD)
    assert done.returncode == 2
    assert "jobs.py:1: No module named 'pandas_of_nowhere': install it where Detent runs" in done.stderr


def test_any_other_error_of_an_app_is_its_own(declare):
    """A person wants the traceback of it."""
    done = declare("jobs:app", jobs=GOOD + "\n1 / 0\n")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "jobs.py" in done.stderr


def test_declaring_says_what_became_of_it(declare):
    done = declare("jobs:app", jobs=GOOD + "\napp.schedule('x', every('1h'), work)\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert "info    schedules_declared app=good changed=1 unchanged=0 left=0" in done.stderr
    often = declare("jobs:app", jobs=GOOD + "\napp.schedule('y', every('1s'), work)\n")
    assert often.returncode == 1
    assert "warning declaration_refused app=good schedule=y error=" in often.stderr
    assert "schedules_declared app=good changed=0 unchanged=0 left=1" in often.stderr


def test_tasks_of_several_apps_have_names_of_their_own():
    a, b = Detent("a"), Detent("b")

    async def work() -> None:
        """Nothing."""

    a.task(name="one")(work)
    b.task(name="two")(work)
    assert set(tasks_of([a, b])) == {"one", "two"}
    b.task(name="one")(_other)
    with pytest.raises(AppError, match='2 apps have a task "one"'):
        tasks_of([a, b])


async def _other() -> None:
    """Nothing."""
