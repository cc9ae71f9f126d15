"""The only place that asks the computer for the time. Stored instants come from the database's clock instead."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """For previews and defaults of the command line, never for a decision about a firing."""
    return datetime.now(UTC)
