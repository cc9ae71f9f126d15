"""The worker: claims firings, starts each at its instant, and writes down what happened.

    claimer ──► hand ──► release (each at its instant) ──► executor ──► finaliser
                  ▲                                                        │
                  └────────── room: what is in hand is bounded ◄───────────┘

Invariants:

* Nothing starts that isn't in our hands by the ledger: the claim is committed before its answer arrives.
* Nothing starts before the database's clock has reached its instant, and nothing starts once the lease has run out.
* What is in hand and unknown to the ledger is never concluded: conclusions go by the number of the volley.
* What the ledger puts into our hands and we don't know of goes back: a claim whose answer was lost.
* An outcome is kept until it is on record or known to be stale, however long the database is away.
"""
