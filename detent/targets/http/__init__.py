"""The HTTP target: a request a firing, to whom it may reach, within its time, whatever the other side does.

    prepare (once a text) ──► compose (headers, signature) ──► client ──► classify ──► an end, or an excerpt
                                                                 │
                                            resolver ──► reach ──► connection

Invariants:

* A connection is made to an address that was checked, never to a name; redirects are no exception.
* An attempt ends by its deadline, and holds a bounded part of an answer, whatever arrives.
* A request is sent once. Whatever went wrong after its first byte is an end of the attempt, not a reason to send again.
* No proxy, no environment, no cookies, no decompression: what is sent and read is what this package says.
"""
