"""The simulation finds bugs: each defect that is planted makes one of the first worlds fail."""

from __future__ import annotations

import pytest

from tests.sim.mutations import MUTATIONS, planted
from tests.sim.run import simulate

MOST = 40


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.says.replace(" ", "-"))
def test_a_planted_defect_is_found(stage, mutation):
    """The seeds that it is known by come first; if steps have moved since, others will do."""
    with planted(stage, mutation):
        for seed in (*mutation.seeds, *range(1, MOST + 1)):
            if simulate(stage, seed).breach is not None:
                return
    pytest.fail(f"{mutation.says}: no seed up to {MOST} noticed")
