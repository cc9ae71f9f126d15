"""What a firing needs of a worker, as one number.

Planners write it beside what waits, and a claim compares it: a worker takes what it can do, and never touches the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detent.domain.stable import stable_hash

NOTHING: Final = 0
"""Any worker will do."""
_NEEDS: Final = 1 << 31
"""Of so many, two different ones are as good as never the same; a worker that meets one says so when it runs it."""
TASK: Final = "task"


def need_of(target: Mapping[str, object]) -> int:
    """A task needs a worker that has it; any other target, one that knows its kind."""
    kind, what = next(iter(target.items()))
    return 1 + stable_hash("need", kind, str(what) if kind == TASK else "") % (_NEEDS - 1)
