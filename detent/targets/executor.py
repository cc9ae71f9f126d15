"""Runs a function to its end, whatever that is: in the threads and in the child processes of a worker."""

from __future__ import annotations

from collections.abc import Callable


def run_to_its_end(function: Callable[[], object]) -> tuple[object, BaseException | None]:
    """What it returned, or what it raised."""
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 whatever a task raises is its outcome
        return None, error
