"""What a command promises at once: the whole look-ahead from a moment on, under the cadence that holds from then.

A planner takes what is due in parts; a command compares what waits with what its window yields, so it needs all of it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from detent.domain.at import At
from detent.domain.limits import LATE_AT_MOST
from detent.domain.plan import Cadence, Omission, Plan, Promise, Reason, excluded, omitted, plan
from detent.domain.trigger import Triggers


def window(
    cadence: Cadence, begin: datetime, fired: int, *, as_of: datetime, ahead: timedelta, before: Cadence | None = None
) -> Plan:  # fmt: skip
    """From `begin`, which is now or passed a moment ago, to `ahead` from now.

    What lies before now by less than the look-ahead is not late: nobody could know of it earlier. `before` is the
    cadence that held until now.
    """
    promises: list[Promise] = []
    omissions: list[Omission] = []
    until, late_before = as_of + ahead, as_of if as_of - begin > ahead else min(begin, as_of)
    overdue = _overdue(cadence, before, as_of)
    if overdue is not None:
        first = min(trigger.rule.instant for trigger in overdue.triggers.each if isinstance(trigger.rule, At))
        late = plan(overdue, first, fired, as_of=as_of, until=as_of)
        promises, omissions = late.promises, late.omissions
    next_at: datetime | None = begin
    while next_at is not None and next_at <= until:
        part = plan(cadence, next_at, fired + len(promises), as_of=late_before, until=until)
        promises += part.promises
        omissions += part.omissions
        next_at = part.next_at
    return Plan(promises, omissions, next_at)


def unrecorded(found: Plan, cadence: Cadence, cursor: datetime | None) -> Plan:
    """Without the omissions before a cursor under the same revision: those are on record. Without a cursor all are."""
    if cursor is None:
        return found._replace(omissions=[])
    left: list[Omission] = []
    for omission in found.omissions:
        if cursor <= omission.start:
            left.append(omission)
        elif cursor < omission.end and omission.reason is Reason.EXCLUDED:
            left += excluded(cadence.triggers, cursor, omission.end)
        elif cursor < omission.end:
            left += omitted(cadence.triggers, cursor, omission.end, omission.reason)
    return found._replace(omissions=left)


def withheld(cadence: Cadence, next_at: datetime, end: datetime, reason: Reason) -> Plan:
    """Nothing of [next_at, end) fires, for that reason."""
    return Plan([], list(omitted(cadence.triggers, next_at, end, reason)), max(next_at, end))


def _overdue(cadence: Cadence, before: Cadence | None, as_of: datetime) -> Cadence | None:
    """One-offs that were due when they came to be known: a request may be slow, a client's clock wrong."""
    known = {t.rule.instant for t in before.triggers.each if isinstance(t.rule, At)} if before else set()
    each = tuple(
        trigger
        for trigger in cadence.triggers.each
        if isinstance(trigger.rule, At)
        and as_of - LATE_AT_MOST <= trigger.rule.instant <= as_of
        and trigger.rule.instant not in known
    )
    return replace(cadence, triggers=Triggers(each, cadence.triggers.max_firings)) if each else None
