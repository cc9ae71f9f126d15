"""Small pieces of English that descriptions are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def and_list(items: Iterable[str], last: str = "and") -> str:
    """a, b and c."""
    *front, end = list(items)
    return f"{', '.join(front)} {last} {end}" if front else end


def runs(numbers: Iterable[int], name: Callable[[int], str], shortest: int = 3) -> list[str]:
    """Names, with `a to c` where at least three numbers follow each other."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and groups[-1][-1] == number - 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    found = []
    for group in groups:
        if len(group) >= shortest:
            found.append(f"{name(group[0])} to {name(group[-1])}")
        else:
            found.extend(map(name, group))
    return found


def shortened(items: Sequence[str], most: int = 6) -> Sequence[str]:
    """The first few and how many more there are."""
    return items if len(items) <= most else [*items[: most - 1], f"{len(items) - most + 1} more"]


def clock(second_of_day: int) -> str:
    """02:30, and 02:30:15 where there are seconds."""
    hour, rest = divmod(second_of_day, 3600)
    minute, second = divmod(rest, 60)
    return f"{hour:02}:{minute:02}:{second:02}" if second else f"{hour:02}:{minute:02}"


def every(number: int, unit: str) -> str:
    """every minute, every 5 minutes."""
    return f"every {unit}" if number == 1 else f"every {number} {unit}s"
