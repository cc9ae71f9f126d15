"""Detent beside its peers, in one run on one durable PostgreSQL: `make bench-peers`.

* Peers are fetched by name and version into `.peers/`, and run as their documents say: their own API loads the jobs,
  their own workers work them off, in processes of their own.
* All have the same embedded server with the same settings, and a fresh database for each measurement. They take turns,
  every other round in the opposite order, so that what the machine does meanwhile hits all of them.
* Handlers do nothing but note when they began, by CLOCK_REALTIME. A backlog is worked off when the store says so, not
  when the last handler ran: what isn't on record isn't done.
* Each row says what it keeps, for keeping nothing is faster.
"""
