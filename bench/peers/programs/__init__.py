"""Programs of the peers, each in its own language: `install`, `load`, `work` (see `stage.py` and `stage.mjs`)."""
