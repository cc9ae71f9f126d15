"""The time engine against cronsim, croniter and dateutil, in one run: `make bench`.

Prints one JSON object a result. Microseconds are of CPU time, the best of several interleaved rounds: on a shared
machine that is the figure that repeats. `ratio` is ours over the faster of the others, so below 1 is faster.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter, process_time  # noqa: TID251
from zoneinfo import ZoneInfo  # noqa: TID251

from croniter import croniter
from cronsim import CronSim
from dateutil.rrule import rrulestr

from detent.domain.bulk import Ask, SlotMemo
from detent.domain.cron import parse_cron
from detent.domain.cron.field import parse_field
from detent.domain.rrule_text import parse_rrule
from detent.domain.wallclock import WallClock
from detent.domain.zone import zone

WHERE = "America/New_York"
NOW = datetime(2026, 11, 19, 10, 0, 3, tzinfo=UTC)
EXPRESSIONS = [
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "0 9 * * 1-5",
    "0 0 1 * *",
    "15,45 8-18 * * MON-FRI",
    "0 12 * * 5#2",
]
RULES = [
    "FREQ=DAILY;BYHOUR=9",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=HOURLY;INTERVAL=6",
    "FREQ=MINUTELY;INTERVAL=15",
]
RULES_SINCE = datetime(2020, 1, 1, tzinfo=UTC)
ROUNDS = 15
FEW_ROUNDS = 3
STEPS = 100
SCHEDULES, PAIRS = 50_000, 1_000


def main() -> None:
    for expression in EXPRESSIONS:
        report(
            "parse+next", expression, parse_and_next(expression), unmemoised_us=parse_unmemoised(expression)
        )
        report("next", expression, next_only(expression))
    for text in RULES:
        report("rrule parse+next", text, recurrence(text), rounds=FEW_ROUNDS)
    for zones in ("40 zones", "all zones"):
        # A process of its own: cold means that no zone was read and no field parsed before.
        subprocess.run([sys.executable, "-m", "bench.time", zones], check=True)


def report(
    what: str,
    expression: str,
    rivals: dict[str, Callable[[], float]],
    rounds: int = ROUNDS,
    **extra: float,
) -> None:
    best = dict.fromkeys(rivals, 1e9)
    for _ in range(rounds):
        for name, measure in rivals.items():
            best[name] = min(best[name], measure())
    micros = {f"{name}_us": round(seconds * 1e6, 2) for name, seconds in best.items()}
    fastest = min(best[name] for name in rivals if name != "detent")
    ratios = {"ratio": best["detent"] / fastest}
    if "unmemoised_us" in extra:
        ratios["unmemoised_ratio"] = extra["unmemoised_us"] / fastest / 1e6
    rounded = {name: float(f"{ratio:.2g}") for name, ratio in ratios.items()}
    print(json.dumps({"bench": what, "expr": expression, **micros, **extra, **rounded}), flush=True)


def parse_and_next(expression: str) -> dict[str, Callable[[], float]]:
    there = NOW.astimezone(ZoneInfo(WHERE))
    return {
        "detent": lambda: timed(lambda: WallClock(parse_cron(expression), zone(WHERE)).next(NOW)),
        "cronsim": lambda: timed(lambda: next(CronSim(expression, there))),
        "croniter": lambda: timed(lambda: croniter(expression, there).get_next(datetime)),
    }


def parse_unmemoised(expression: str) -> float:
    """Ours with the memo of parsed fields emptied each time, for honesty: real fleets repeat their fields."""

    def once() -> None:
        parse_field.cache_clear()
        WallClock(parse_cron(expression), zone(WHERE)).next(NOW)

    return round(min(timed(once) for _ in range(ROUNDS)) * 1e6, 2)


def next_only(expression: str) -> dict[str, Callable[[], float]]:
    """The mean of a walk, started anew each round so that all walk the same slots."""
    rule = WallClock(parse_cron(expression), zone(WHERE))
    there = NOW.astimezone(ZoneInfo(WHERE))

    def ours() -> None:
        slot: datetime | None = NOW
        for _ in range(STEPS):
            assert slot is not None
            slot = rule.next(slot)

    def walk(step: Callable[[], object]) -> None:
        for _ in range(STEPS):
            step()

    def of_croniter() -> Callable[[], object]:
        walker = croniter(expression, there)
        return lambda: walker.get_next(datetime)

    return {
        "detent": lambda: timed(ours, 1) / STEPS,
        "cronsim": lambda: timed(lambda: walk(CronSim(expression, there).__next__), 1) / STEPS,
        "croniter": lambda: timed(lambda: walk(of_croniter()), 1) / STEPS,
    }


def recurrence(text: str) -> dict[str, Callable[[], float]]:
    """The next slot of a rule that began in 2020, which is what a planner asks when it loads a schedule."""
    utc = zone("UTC")
    then, now = RULES_SINCE.replace(tzinfo=None), NOW.replace(tzinfo=None)
    return {
        "detent": lambda: timed(lambda: WallClock(parse_rrule(text, RULES_SINCE, utc), utc).next(NOW)),
        "dateutil": lambda: timed(lambda: rrulestr(text, dtstart=then).after(now), 1),
    }


def timed(work: Callable[[], object], times: int = STEPS) -> float:
    begin = process_time()
    for _ in range(times):
        work()
    return (process_time() - begin) / times


def bulk(zones: str) -> None:
    """The next slots of 50,000 schedules that share 1,000 distinct (expression, zone) pairs."""
    pick = random.Random(1)
    names = zone_list()[:: 1 if zones == "all zones" else 14]
    pairs: set[tuple[str, str]] = set()
    while len(pairs) < PAIRS:
        pairs.add((some_expression(pick), pick.choice(names)))
    ordered = sorted(pairs)
    asks = [Ask(*pick.choice(ordered), NOW) for _ in range(SCHEDULES)]
    memo = SlotMemo()
    begin = perf_counter()
    cold = timed(lambda: memo.next_slots(asks), 1)
    wall = perf_counter() - begin
    memoised = min(timed(lambda: memo.next_slots(asks), 1) for _ in range(ROUNDS))
    print(
        json.dumps(
            {
                "bench": "bulk",
                "schedules": SCHEDULES,
                "pairs": PAIRS,
                "zones": len({where for _, where in ordered}),
                "cold_s": round(wall, 4),
                "cold_cpu_s": round(cold, 4),
                "memoised_cpu_s": round(memoised, 4),
            }
        ),
        flush=True,
    )


def zone_list() -> list[str]:
    """Names without reading any zone."""
    from detent.domain.zone import zone_names  # noqa: PLC0415

    return sorted(name for name in zone_names() if not name.startswith("Etc/"))


def some_expression(pick: random.Random) -> str:
    minute, hour = pick.randrange(60), pick.randrange(24)
    return pick.choice(
        (
            f"{minute} {hour} * * *",
            f"{minute} * * * *",
            f"*/{pick.choice([5, 10, 15, 20])} * * * *",
            f"{minute} {hour} * * MON-FRI",
            f"{minute} {hour} 1 * *",
            f"{minute} 8-18/2 * * 1-5",
        )
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        bulk(sys.argv[1])
    else:
        main()
