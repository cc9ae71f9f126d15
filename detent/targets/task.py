"""The task target: Python functions, found by their registered names only."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, Final

from detent.domain.errors import SpecError
from detent.domain.need import TASK, need_of
from detent.domain.schedule import Work
from detent.domain.size import parse_size
from detent.targets.arguments import Arguments, TaskError, hint_of, unchanging
from detent.targets.context import Context, SyncContext
from detent.targets.sync_transaction import Wait
from detent.targets.target import Begin, Call, TargetError
from detent.targets.threads import Threads

_CONTEXTS: Final = (Context, SyncContext)
_NO_TASKS: Final = (inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.isclass)


class RunsIn(StrEnum):
    """Where a task's function is called."""

    LOOP = "loop"
    THREAD = "thread"
    PROCESS = "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A registered function and the defaults of the schedules that run it."""

    name: str
    function: Callable[..., Any]
    wants: type[Context | SyncContext] | None
    """The kind of context that it takes first, if it does."""
    arguments: Arguments
    runs_in: RunsIn
    memory: int | None = None
    """Bytes that it may take, in a process of its own."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """In the words of the spec: pool, timeout, retry."""

    def values(self, payload: object) -> Callable[[], dict[str, Any]]:
        """What it is called with. What a call could change is made anew for each."""
        given = payload if isinstance(payload, Mapping) else {}
        values = self.arguments.read(given)
        return (lambda: values) if unchanging(values) else (lambda: self.arguments.read(given))


def make_task(
    function: Callable[..., Any], name: str, defaults: Mapping[str, object] | None = None,
    *, executor: str | None = None, memory: str | None = None,
) -> Task:  # fmt: skip
    """`executor`: where it runs, if not in the loop (a coroutine function) or in a thread (any other)."""
    if any(is_one(function) for is_one in _NO_TASKS) or not callable(function):
        raise TaskError(f"{name} is no function whose call is one run: write def or async def")
    wants = _wanted_context(function, name)
    return Task(
        name=name, function=function, wants=wants, arguments=Arguments(function, name, skipped=1 if wants else 0),
        runs_in=_where(function, name, executor), memory=_memory(name, executor, memory), defaults=defaults or {},
    )  # fmt: skip


class TaskTarget:
    """The tasks of this worker's apps."""

    def __init__(self, tasks: Mapping[str, Task], *, places: int) -> None:
        self._tasks = tasks
        self._threads = Threads(places)
        self.needs: Collection[int] = frozenset(need_of({TASK: name}) for name in tasks)

    def prepare(self, work: Work) -> Call:
        name = str(work.target[TASK])
        task = self._tasks.get(name)
        if task is None:
            raise TargetError(f'this worker has no task "{name}": start one whose app registers it')
        if task.runs_in is RunsIn.PROCESS:
            raise TargetError(f"{name} wants a process of its own, which workers don't have yet")
        try:
            values = task.values(work.payload)
        except SpecError as error:
            raise TargetError(f"{name} can't be called with this: {error.field}: {error.message}") from None
        except TaskError as error:
            raise TargetError(error.message) from None
        begin = self._in_thread(task, values) if task.runs_in is RunsIn.THREAD else _in_loop(task, values)
        return Call.of(work, begin, wants_context=task.wants is not None)

    async def close(self) -> None:
        self._threads.close()

    def _in_thread(self, task: Task, values: Callable[[], dict[str, Any]]) -> Begin:
        function, run = task.function, self._threads.run

        async def begin(context: Context | None) -> object:
            if context is None:
                return _refuse_awaitable(task, await run(partial(function, **values())))
            theirs = _sync(context, _wait_in(asyncio.get_running_loop()))
            return _refuse_awaitable(task, await run(partial(function, theirs, **values())))

        return begin


def _in_loop(
    task: Task, values: Callable[[], dict[str, Any]]
) -> Callable[[Context | None], Awaitable[object]]:
    function = task.function
    if task.wants is not None:
        return lambda context: function(context, **values())
    if not values():
        return lambda _: function()
    return lambda _: function(**values())


def _sync(context: Context, wait: Wait) -> SyncContext:
    facts = {name: getattr(context, name) for name in Context.__dataclass_fields__}
    return SyncContext(**facts, wait=wait)


def _wait_in(loop: asyncio.AbstractEventLoop) -> Wait:
    return lambda asked: asyncio.run_coroutine_threadsafe(asked, loop).result()


def _refuse_awaitable(task: Task, result: object) -> object:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TaskError(f"{task.name} returned something to await: write it as async def")
    return result


def _wanted_context(function: Callable[..., Any], name: str) -> type[Context | SyncContext] | None:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        return None
    try:
        wanted = hint_of(function, parameters[0])
    except (NameError, AttributeError, TypeError, SyntaxError):
        wanted = next((one for one in _CONTEXTS if one.__name__ == parameters[0].annotation), None)
    if wanted not in _CONTEXTS:
        return None
    right = Context if inspect.iscoroutinefunction(function) else SyncContext
    if wanted is not right:
        kind = "a coroutine function" if right is Context else "no coroutine function"
        raise TaskError(f"{name} is {kind}: annotate its {parameters[0].name} with {right.__name__}")
    return wanted


def _where(function: Callable[..., Any], name: str, executor: str | None) -> RunsIn:
    plain = RunsIn.LOOP if inspect.iscoroutinefunction(function) else RunsIn.THREAD
    if executor is None:
        return plain
    if executor not in (RunsIn.THREAD, RunsIn.PROCESS):
        raise TaskError(f'{name}: executor is thread or process, not "{executor}"')
    if executor == RunsIn.THREAD and plain is RunsIn.LOOP:
        raise TaskError(f"{name} is a coroutine function, which runs in the loop: leave executor away")
    return RunsIn(executor)


def _memory(name: str, executor: str | None, memory: str | None) -> int | None:
    if memory is None:
        return None
    if executor != RunsIn.PROCESS:
        raise TaskError(f'{name}: memory is a limit of executor="process"')
    return parse_size(memory, "memory")
