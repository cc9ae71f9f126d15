"""The command line: `main.py` composes it, one file per command group."""
