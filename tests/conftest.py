"""Settings of all tests: the judges' zone rules are those of the pinned tzdata, as ours are."""

from __future__ import annotations

import os
import zoneinfo

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.postgres import (  # noqa: F401 fixtures for all folders
    connect,
    connection,
    database,
    empty_database,
    module_database,
    postgres,
    settings,
)

zoneinfo.reset_tzpath(to=[])

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
hypothesis_settings.register_profile(
    "ci", deadline=None, suppress_health_check=_SLOW_IS_FINE, print_blob=True
)
hypothesis_settings.register_profile(
    "fuzz", parent=hypothesis_settings.get_profile("ci"), max_examples=10_000
)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def examples(number: int) -> int:
    """So many in CI, a hundred times as many under `make fuzz`."""
    return number * 100 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else number
