"""Detent: a distributed scheduler on PostgreSQL.

What apps import is found here. It is loaded when it is asked for, so that `detent next` starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from detent.app import AppError, Detent
    from detent.domain.errors import DetentError
    from detent.domain.retry import exponential
    from detent.targets.context import Context, SyncContext
    from detent.targets.steering import Cancel, Retry, Snooze
    from detent.triggers import at, cron, every, rrule

__version__ = "0.1.0"
__all__ = [
    "AppError",
    "Cancel",
    "Context",
    "Detent",
    "DetentError",
    "Retry",
    "Snooze",
    "SyncContext",
    "__version__",
    "at",
    "cron",
    "every",
    "exponential",
    "rrule",
]

_HOMES: Final = {
    "AppError": "detent.app",
    "Cancel": "detent.targets.steering",
    "Context": "detent.targets.context",
    "Detent": "detent.app",
    "DetentError": "detent.domain.errors",
    "Retry": "detent.targets.steering",
    "Snooze": "detent.targets.steering",
    "SyncContext": "detent.targets.context",
    "at": "detent.triggers",
    "cron": "detent.triggers",
    "every": "detent.triggers",
    "exponential": "detent.domain.retry",
    "rrule": "detent.triggers",
}


if not TYPE_CHECKING:  # else a name that doesn't exist would pass as any object

    def __getattr__(name: str) -> object:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    def __dir__() -> list[str]:
        return __all__
