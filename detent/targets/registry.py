"""From the text of a schedule's work to a call: read once, remembered by its text.

What a firing does is its target's part; nothing else of Detent knows more of it than target.py says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detent.domain.errors import UNREADABLE
from detent.domain.need import NOTHING
from detent.domain.schedule import Work, read_work
from detent.targets.context import Context
from detent.targets.target import Call, Target, TargetError

_REMEMBERED: Final = 50_000


class Registry:
    """The targets of a worker, by their kind, and the calls made by them."""

    def __init__(self, targets: Mapping[str, Target]) -> None:
        self._targets = targets
        self._calls: dict[str, Call] = {}
        self.needs: Final = [NOTHING, *(need for target in targets.values() for need in target.needs)]
        """All that this worker can do."""

    def call(self, work_text: str) -> Call:
        found = self._calls.get(work_text)
        if found is None:
            if len(self._calls) >= _REMEMBERED:
                self._calls.clear()
            found = self._calls[work_text] = self._prepare(work_text)
        return found

    async def close(self) -> None:
        for target in self._targets.values():
            await target.close()

    def _prepare(self, work_text: str) -> Call:
        try:
            work = read_work(work_text)
        except UNREADABLE as error:
            return _refusing(None, f"the work of this schedule can't be read: {error}")
        kind = next(iter(work.target))
        target = self._targets.get(kind)
        if target is None:
            known = ", ".join(self._targets)
            return _refusing(work, f'this worker knows no target "{kind}": known is {known}')
        try:
            return target.prepare(work)
        except TargetError as error:
            return _refusing(work, error.message)


def _refusing(work: Work | None, message: str) -> Call:
    async def begin(_: Context | None) -> object:
        raise TargetError(message)

    return Call(begin=begin, wants_context=False, work=work, timeout_seconds=None, wakes=True)
