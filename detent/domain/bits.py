"""Sets of small numbers as bit masks: bit n stands for the number n."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def mask_of(numbers: Iterable[int]) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def union(masks: Iterable[int]) -> int:
    together = 0
    for mask in masks:
        together |= mask
    return together


def members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def lowest(mask: int) -> int:
    """The smallest member, or -1 of an empty set."""
    return (mask & -mask).bit_length() - 1


def below(limit: int) -> int:
    """All numbers from 0 up to but not including `limit`."""
    return (1 << limit) - 1
