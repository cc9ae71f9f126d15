"""Two hundred worlds, each from its seed. A seed that fails is played again by `make sim SEED=n`."""

from __future__ import annotations

import pytest

from tests.sim.run import simulate

SEEDS = 200


# R-PLAN-3, R-PLAN-4, R-PLAN-5, R-PLAN-7, R-EXEC-1, R-EXEC-2, R-EXEC-3, R-EXEC-6, R-EXEC-9
@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_nothing_is_lost_doubled_or_early_whatever_happens(stage, seed):
    report = simulate(stage, seed)
    assert report.breach is None, report
