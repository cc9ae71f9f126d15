"""An app: the tasks that a person writes, and the schedules that run them.

    app = Detent()

    @app.task(pool="reports", timeout="10m", retry=exponential(5))
    async def nightly_report(context: Context, team: str) -> dict[str, int]: ...

    app.schedule("nightly-report-ops", cron("0 2 * * *", tz="America/New_York"), nightly_report, team="ops")

Nothing here touches a database. Whoever runs the app (`detent dev`, `detent worker`) declares its schedules under the
app's name: see detent/commands/declare.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar, overload

from detent import clock
from detent.domain.errors import DetentError, SpecError
from detent.domain.retry import Retry
from detent.domain.schedule import register
from detent.targets.task import Task, make_task
from detent.triggers import Duration, When, written_duration

Function = TypeVar("Function", bound=Callable[..., object])
RetryPolicy = Retry | Mapping[str, object]
Overlap = Literal["skip", "queue", "collapse", "cancel_previous", "allow"]
Executor = Literal["thread", "process"]
Misfire = Literal["fire_latest", "fire_all", "skip"]

_NO_MINIMUM: Final = timedelta(milliseconds=1)
"""How often a schedule may fire is for its tenant to say, when it is declared."""
_ENDS: Final = ("at", "end_at")


class AppError(DetentError):
    """A task or a schedule of an app can't be."""

    code = "app"


class Detent:
    """The name of an app is the origin of its schedules: those of another name are left alone."""

    def __init__(self, name: str = "app") -> None:
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise AppError("an app has a name of 1 to 100 printable characters")
        self.name: Final = name
        self._tasks: dict[str, Task] = {}
        self._by_function: dict[object, Task] = {}
        self._schedules: dict[str, Mapping[str, object]] = {}

    @property
    def tasks(self) -> Mapping[str, Task]:
        return MappingProxyType(self._tasks)

    @property
    def schedules(self) -> Mapping[str, Mapping[str, object]]:
        """Their specs, as files and REST would write them."""
        return MappingProxyType(self._schedules)

    @overload
    def task(self, function: Function, /) -> Function: ...

    @overload
    def task(
        self, *, name: str | None = None, pool: str | None = None, timeout: Duration | None = None,
        retry: RetryPolicy | None = None, executor: Executor | None = None, memory: str | None = None,
    ) -> Callable[[Function], Function]: ...  # fmt: skip

    def task(
        self, function: Callable[..., Any] | None = None, *, name: str | None = None, pool: str | None = None,
        timeout: Duration | None = None, retry: RetryPolicy | None = None, executor: Executor | None = None,
        memory: str | None = None,
    ) -> Any:  # fmt: skip
        """Registers a function under its name. It stays as it is: call it like any other.

        A coroutine function runs in the worker's loop, any other in a thread; with `executor="process"` either runs in
        a process of its own, which can be killed, and may take no more than `memory`. Pool, timeout and retry hold for
        the schedules that don't say otherwise.
        """
        defaults = _policies(pool=pool, timeout=timeout, retry=retry)

        def registered(function: Callable[..., Any]) -> Callable[..., Any]:
            self._add(function, name, defaults, executor=executor, memory=memory)
            return function

        return registered if function is None else registered(function)

    def _add(
        self, function: Callable[..., Any], name: str | None, defaults: Mapping[str, object],
        *, executor: Executor | None, memory: str | None,
    ) -> None:  # fmt: skip
        name = name or getattr(function, "__name__", None)
        if not name or name == "<lambda>":
            raise AppError(f'{repr(function)[:80]} has no name: give it one by name="…"')
        if name in self._tasks:
            raise AppError(f'{self.name} has two tasks "{name}": give one another name by name="…"')
        if function in self._by_function:
            raise AppError(f'"{self._by_function[function].name}" is registered already: once is enough')
        self._tasks[name] = self._by_function[function] = make_task(
            function, name, defaults, executor=executor, memory=memory
        )

    def schedule(
        self, name: str, when: When | Sequence[When], task: Callable[..., object], /, *,
        payload: Mapping[str, object] | None = None,
        pool: str | None = None, priority: int | None = None, timeout: Duration | None = None,
        retry: RetryPolicy | None = None, overlap: Overlap | None = None, max_concurrent: int | None = None,
        misfire: Misfire | Mapping[str, object] | None = None, start_deadline: Duration | None = None,
        expected_duration: Duration | None = None, max_firings: int | None = None,
        jitter: Duration | None = None, window: Duration | None = None, tags: Sequence[str] | None = None,
        description: str | None = None, paused: bool | None = None,
        **arguments: object,
    ) -> None:  # fmt: skip
        """A schedule that runs a task of this app with these arguments.

        Arguments whose names are policies, too, are given by `payload`. Everything is checked here, and what can't be
        is refused here, not at two in the night.
        """
        policies = _policies(
            pool=pool, priority=priority, timeout=timeout, retry=retry, overlap=overlap, max_concurrent=max_concurrent,
            misfire={"policy": misfire} if isinstance(misfire, str) else misfire, start_deadline=start_deadline,
            expected_duration=expected_duration, max_firings=max_firings, jitter=jitter, window=window,
            tags=None if tags is None else list(tags), description=description, paused=paused,
        )  # fmt: skip
        if name in self._schedules:
            raise AppError(f'{self.name} has two schedules "{name}": a name is used once')
        try:
            found = self._task_of(task)
            given = _arguments(found, payload, arguments, policies)
            spec = {
                "name": name, "triggers": _triggers(when), "target": {"task": found.name}, **found.defaults, **policies
            }  # fmt: skip
            if given:
                spec["payload"] = given
            _refuse_wrong(spec)
        except SpecError as error:
            raise AppError(f'schedule "{name}", {error.field}: {error.message}') from error
        except DetentError as error:
            raise AppError(f'schedule "{name}": {error.message}') from error
        self._schedules[name] = spec

    def _task_of(self, function: Callable[..., object]) -> Task:
        found = self._by_function.get(function)
        if found is None:
            shown = getattr(function, "__name__", repr(function)[:80])
            raise AppError(f"{shown} is no task of {self.name}: write @app.task above it")
        return found


def _policies(**given: object) -> dict[str, object]:
    """Those that were given, in the words of the spec."""
    return {key: _written(value) for key, value in given.items() if value is not None}


def _written(value: object) -> object:
    if isinstance(value, timedelta):
        return written_duration(value)
    return value.spec if isinstance(value, Retry) else value


def _triggers(when: When | Sequence[When]) -> list[Mapping[str, object]]:
    each = [when] if isinstance(when, When) else list(when)
    if not all(isinstance(one, When) for one in each):
        raise AppError('when is cron("…"), every("…"), at("…"), rrule("…"), or a list of them')
    return [one.spec for one in each]


def _arguments(
    task: Task, payload: Mapping[str, object] | None, arguments: Mapping[str, object], policies: Mapping[str, object]
) -> dict[str, object]:  # fmt: skip
    if payload is not None and arguments:
        raise AppError(f"give the arguments of {task.name} either by payload or by name")
    doubtful = policies.keys() & task.arguments.names
    if doubtful and payload is None:
        name = min(doubtful)
        raise AppError(
            f"{name} is a policy of the schedule and an argument of {task.name}: give the arguments by payload={{…}}"
        )
    return task.arguments.written(arguments if payload is None else payload)


def _refuse_wrong(spec: Mapping[str, object]) -> None:
    """By the checks of its registration. But what has come to its end by now was right, and stays in the code."""
    try:
        register(spec, as_of=clock.now(), identity="", min_interval=_NO_MINIMUM)
    except SpecError as error:
        triggers = spec["triggers"]
        assert isinstance(triggers, list)
        if error.code != "never_fires" or not any(end in one for one in triggers for end in _ENDS):
            raise
