"""`python -m detent`."""

from detent.cli.main import app

app(prog_name="detent")
