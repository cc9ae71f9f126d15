"""The app that is run under load. Its task takes a while, and bears witness: a line for each time that it begins."""

from __future__ import annotations

import os
from pathlib import Path

from detent import Context, Detent, clock

app = Detent("load")
WITNESS = "E2E_WITNESS"
_SECONDS = 0.15


@app.task
async def work(context: Context) -> None:
    """Says so before anything else: what is killed afterwards has begun."""
    line = f"{context.schedule_id} {context.key_at.isoformat()} {context.fencing_token} {context.idempotency_key}\n"
    os.write(_witness(), line.encode())
    await clock.sleep(_SECONDS)


def _witness() -> int:
    global _opened  # noqa: PLW0603 one file a process
    if _opened is None:
        path = Path(os.environ[WITNESS]) / str(os.getpid())
        _opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return _opened


_opened: int | None = None
