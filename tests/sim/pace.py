"""How long things last here. Leases are half as long as in production, and deadlines and time-outs follow from them, so a
seed takes half as many steps. The server's time-outs are kept by the director, for they are measured in true time."""

from __future__ import annotations

from detent.settings import Settings
from detent.store.pool import _TIME_OUTS, deadline_seconds

LEASE = 5.0
DEADLINE = deadline_seconds(Settings(database_url="", lease_ttl=LEASE))
LOCK_TIMEOUT = _TIME_OUTS["lock_timeout"] * DEADLINE
IDLE_IN_TRANSACTION_TIMEOUT = _TIME_OUTS["idle_in_transaction_session_timeout"] * DEADLINE
LONGEST_DELAY = 3.0

TROUBLE = 20.0
"""Faults strike."""
HEALING = 10.0
"""A lease runs out, its node is buried, what it held is tried again."""
DRAINING = 240.0
"""At most: until all is done."""
SLICE = 5.0
