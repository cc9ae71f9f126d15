"""Finds the apps that a command is given as `module:app`, and says where in their code something is wrong."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from types import ModuleType

from detent.app import AppError, Detent
from detent.domain.errors import DetentError
from detent.targets.task import Task


class BrokenApp(DetentError):
    """The code of an app raises when it is imported."""

    code = "broken_app"


def load_app(reference: str) -> Detent:
    """`module:app`, or `module` if there is one app in it. Modules are looked for in the working folder first."""
    name, _, attribute = reference.partition(":")
    if not name or not all(part.isidentifier() for part in name.split(".")):
        raise AppError(f'"{reference}" names no app: write it as module:app, such as shop.jobs:app')
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109 as Python writes it there
        sys.path.insert(0, here)
    module = _import(name)
    found = {key: value for key, value in vars(module).items() if isinstance(value, Detent)}
    if attribute:
        if attribute in found:
            return found[attribute]
        has = f"it has {', '.join(found)}" if found else "it has none: app = Detent() makes one"
        raise AppError(f'module {name} has no app "{attribute}": {has}')
    if len(found) != 1:
        advice = f"say which: {name}:{next(iter(found))}" if found else "app = Detent() makes one"
        raise AppError(f"module {name} has {len(found)} apps: {advice}")
    return next(iter(found.values()))


def tasks_of(apps: Sequence[Detent]) -> dict[str, Task]:
    """Of all of them: tasks are found by name only, so a name has one meaning in a worker."""
    names = Counter(name for app in apps for name in app.tasks)
    for name, n in names.items():
        if n > 1:
            raise AppError(f'{n} apps have a task "{name}": give it another name in one, by name="…"')
    return {name: task for app in apps for name, task in app.tasks.items()}


def _import(name: str) -> ModuleType:
    try:
        if find_spec(name) is None:
            raise AppError(f'there is no module "{name}" in {os.getcwd()} or among what is installed')  # noqa: PTH109
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):  # a parent package of the name
            raise AppError(f'there is no module "{error.name}", which {name} should lie in') from None
        raise BrokenApp(f"{_place(error)}{error}: install it where Detent runs") from error
    except DetentError as error:
        if isinstance(error, AppError) and error.__traceback__ is not None and _place(error) == "":
            raise
        raise BrokenApp(f"{_place(error)}{error.message}") from error


def _place(error: BaseException) -> str:
    """The innermost line of the app's own code, if the error comes from there."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((ours, "<frozen")) and "importlib" not in frame.filename
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
