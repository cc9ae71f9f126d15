"""What Detent can do on this machine, measured beside what bare PostgreSQL can: `detent bench NAME`.

Each benchmark loads a fleet by SQL, runs real planners and workers in processes of their own, and counts what is on
record when they are done. Every figure of speed stands beside a ceiling that the same run measured.
"""
