"""The task target: a Python function, found by its registered name only."""

from __future__ import annotations

import copy
import inspect
import typing
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from detent.domain.errors import DetentError
from detent.domain.need import TASK, need_of
from detent.domain.schedule import Work
from detent.targets.context import Context
from detent.targets.target import Call, TargetError

_PLAIN: Final = (str, int, float, bool, type(None))


class TaskError(DetentError):
    """A function can't be a task, or can't be called with these arguments."""

    code = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A registered function and the defaults of the schedules that run it."""

    name: str
    function: Callable[..., Awaitable[object]]
    wants_context: bool
    defaults: Mapping[str, object] = field(default_factory=dict)
    """In the words of the spec: pool, timeout, retry."""


def make_task(function: Callable[..., Any], name: str, defaults: Mapping[str, object] | None = None) -> Task:
    if not inspect.iscoroutinefunction(function):
        raise TaskError(f"{name} is no coroutine function: write it as `async def`")
    return Task(name=name, function=function, wants_context=_wants_context(function), defaults=defaults or {})


def check_arguments(task: Task, payload: Mapping[str, object]) -> None:
    """Refuses arguments that the function can't be called with, at registration and not at two in the night."""
    first = (None,) if task.wants_context else ()
    try:
        inspect.signature(task.function).bind(*first, **payload)
    except TypeError as error:
        raise TaskError(f"{task.name} can't be called with these arguments: {error}") from None


def bind(task: Task, payload: object) -> Callable[[Context | None], Awaitable[object]]:
    """The call with its arguments. What a task could change is copied for each firing."""
    function = task.function
    arguments: dict[str, Any] = dict(payload) if isinstance(payload, Mapping) else {}
    flat = all(isinstance(value, _PLAIN) for value in arguments.values())
    if task.wants_context:
        return lambda context: function(context, **(arguments if flat else copy.deepcopy(arguments)))
    if not arguments:
        return lambda _: function()
    return lambda _: function(**(arguments if flat else copy.deepcopy(arguments)))


class TaskTarget:
    """The tasks of this worker's apps."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks
        self.needs: Collection[int] = frozenset(need_of({TASK: name}) for name in tasks)

    def prepare(self, work: Work) -> Call:
        name = work.target[TASK]
        task = self._tasks.get(str(name))
        if task is None:
            raise TargetError(f'this worker has no task "{name}": start one whose app registers it')
        return Call.of(work, bind(task, work.payload), wants_context=task.wants_context)

    async def close(self) -> None:
        """There is nothing to close."""


def _wants_context(function: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        return False
    try:
        annotation = typing.get_type_hints(function).get(parameters[0].name)
    except (NameError, TypeError):
        annotation = parameters[0].annotation
    return annotation is Context or annotation == "Context"
