"""Races: two real sessions, and every move that two processes can meet in.

A test's name states the race. Nobody sleeps: a session that must wait is seen waiting (`scene.meets`), one that must not
wait simply goes on. After each test the ledger is asked for breaches of the law of conservation; what a test asserts
itself is who won, and that the other noticed. Where everybody meets, witnesses in the database raise when an invariant
is broken (witness.py).

| they meet on  | moves                                                                               | played in       |
|---------------|-------------------------------------------------------------------------------------|-----------------|
| shard row     | plan, park, catch-up cursor with take-over, give, leave, burial; two take-overs     | test_fencing    |
| timer row     | plan with plan, edit, pause, resume, delete, trigger, park                          | test_planning   |
| schedule row  | edit, pause, resume, delete, trigger, declare with each other                       | test_commands   |
| schedule row  | again, hand back, defer (they ask where to wait) with edit, pause, resume, delete   | test_returns    |
| name          | create, declare, import with create, declare, import, delete                        | test_commands   |
| waiting row   | claim with claim                                                                    | test_claims     |
| waiting row   | pause, delete, edit, resume with claim, end of waiting                              | test_withdrawal |
| waiting row   | skip, collapse, park, wake with claim, pause, edit, each other                      | test_overlap    |
| waiting row   | a person's cancel with claim, again, hand back                                      | test_wishes     |
| running row   | park, cancel previous with conclude, a retry's claim                                | test_overlap    |
| running row   | conclude, again, hand back, defer with each other, cancel, progress, the same twice | test_endings    |
| running row   | conclude, again, hand back of a zombie with its burial                              | test_burials    |
| node row      | burial with claim, renewal, burial, leave; a new id with what the old one holds     | test_burials    |
| dead row      | replay, discard with each other                                                     | test_wishes     |
| seat (key)    | claim with claim, conclude, overlap                                                 | test_claims     |
| attempt (key) | an own commit whose answer was lost with the same again, with another's result      | test_endings    |
| catalogue     | partitions with partitions, plan, commands, detach; migration with claim, conclude  | test_upkeep     |
| tally         | flush with fold, fold with fold                                                     | test_upkeep     |
| in a circle   | everybody: people, planners, workers that die, policies, reapers                    | test_circles    |

What never meets: two plans under one epoch on one timer (a planner deals its shards out, and a take-over waits for an open
write); a bulk import's promises and anybody (their schedules are not committed yet); facts and readers (nobody locks
history).
"""
