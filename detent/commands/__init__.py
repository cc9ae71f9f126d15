"""What a person can ask for: shared by the API, the UI and the command line.

Each command is one transaction. It first accounts for every slot up to now under the revision that held until now, then
changes the schedule, withdraws the waiting firings that the new revision no longer yields, and plans its window with
the planner's own `plan()`. So a change never fires retroactively, never loses a due slot, and depends on no tick.
"""
