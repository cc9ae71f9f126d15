"""What runs beside the work itself: planners, shards, the reaper, the pruner. Each is a tick on the shared runner.

Invariants:

* A node holds what it holds by its lease. It trusts the lease until the start of its last renewal plus the time to
  live less a margin, by its own monotonic clock; then everything it held is void.
* A renewal extends an unexpired lease only. Once it has run out the node is another one: a new id.
* Planning is fenced in the database: a transaction of a former holder writes nothing.
"""
