"""From the text of a schedule's work to a call: read once, remembered by its text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from detent.domain.errors import UNREADABLE, DetentError
from detent.domain.schedule import Overlap, Work, read_work
from detent.targets.context import Context
from detent.targets.task import Task, bind

_REMEMBERED: Final = 50_000

Begin = Callable[[Context | None], Awaitable[object]]


class TargetError(DetentError):
    """This worker can't do what the schedule asks for."""

    code = "target"


@dataclass(frozen=True, slots=True)
class Call:
    """Ready to begin. Without `wants_context` nobody needs to make one."""

    begin: Begin
    wants_context: bool
    work: Work | None
    """None if it could not be read; then `begin` raises the reason."""
    timeout_seconds: float | None
    wakes: bool
    """Other firings of the schedule may wait for the seat."""


class Registry:
    """The tasks of an app, by name, and the calls made of them."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks
        self._calls: dict[str, Call] = {}

    def call(self, work_text: str) -> Call:
        found = self._calls.get(work_text)
        if found is None:
            if len(self._calls) >= _REMEMBERED:
                self._calls.clear()
            found = self._calls[work_text] = self._prepare(work_text)
        return found

    def _prepare(self, work_text: str) -> Call:
        try:
            work = read_work(work_text)
        except UNREADABLE as error:
            return _refusing(None, f"the work of this schedule can't be read: {error}")
        try:
            task = self._task_of(work)
            begin = bind(task, work.payload)
        except TargetError as error:
            return _refusing(work, error.message)
        return Call(
            begin=begin,
            wants_context=task.wants_context,
            work=work,
            timeout_seconds=work.timeout.total_seconds() if work.timeout else None,
            wakes=work.overlap is not Overlap.SKIP,
        )

    def _task_of(self, work: Work) -> Task:
        kind, name = next(iter(work.target.items()))
        if kind != "task":
            raise TargetError(f'this worker knows no target "{kind}": known is task')
        task = self._tasks.get(str(name))
        if task is None:
            raise TargetError(f'this worker has no task "{name}": start one whose app registers it')
        return task


def _refusing(work: Work | None, message: str) -> Call:
    async def begin(_: Context | None) -> object:
        raise TargetError(message)

    return Call(begin=begin, wants_context=False, work=work, timeout_seconds=None, wakes=True)
