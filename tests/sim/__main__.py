"""`make sim`. What processes share stands in many.py, for they don't import this module."""

from __future__ import annotations

import sys

from tests.sim.many import main

if __name__ == "__main__":
    sys.exit(main())
