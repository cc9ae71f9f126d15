"""`python -m detent`."""

from detent.cli.main import main

main()
