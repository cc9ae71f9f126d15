"""What is said of a list of lags."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many per cent don't exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, -int(-len(ordered) * percent // 100) - 1))]


def in_milliseconds(values: Sequence[float]) -> dict[str, float]:
    return {f"p{p}_ms": round(percentile(values, p) * 1000, 3) for p in (50, 95, 99)} | {
        "max_ms": round(max(values) * 1000, 3)
    }


def in_seconds(values: Sequence[float]) -> dict[str, float]:
    return {f"p{p}_s": round(percentile(values, p), 3) for p in (50, 99, 100)}
