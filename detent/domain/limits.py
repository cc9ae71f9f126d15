"""The bounds of the time engine: each a named constant with its reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

MAX_EXPRESSION: Final = 256
"""Characters of a cron expression or an RRULE. The longest useful one seen has about 120."""

MAX_TRIGGERS: Final = 32
"""Triggers of one schedule. Each is asked for every slot; more than a few is a list of schedules."""

MAX_EXCLUSIONS: Final = 1_000
"""Dates, ranges and windows of one exclusion calendar: some decades of public holidays."""

HORIZON_YEARS: Final = 50
"""How far `next` looks. A weekday of 29 February can be 40 years away (the year 2100 is no leap year)."""

HORIZON: Final = timedelta(days=HORIZON_YEARS * 366)

EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
"""Before it, zone rules are mostly local mean time and nobody schedules anything."""

LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Zone rules are expanded to here, so no search leaves the table; every driver can decode it."""

LATE_AT_MOST: Final = timedelta(days=1)
"""How long ago a one-off may lie when it is registered: a request can be slow, a client's clock wrong."""

AHEAD_AT_MOST: Final = timedelta(days=3660)
"""How far ahead a one-off may lie: ten years. A later one is a mistake in the year."""

MAX_INTERVAL: Final = timedelta(days=3660)
"""Ten years: anything longer is a mistake in the unit."""

MAX_RRULE_COUNT: Final = 10_000
"""COUNT of a recurrence rule: it has to be walked once from DTSTART."""

MAX_WALK: Final = 100_000
"""Slots that one count, or one list of slots, may touch one by one."""

MAX_LEAPS: Final = 20_000
"""Excluded stretches that `next` leaps over in a row: one a day for 54 years, a fraction of a second of work."""
