"""A crew and a house for tests of nodes, too."""

from tests.house import house  # noqa: F401 a fixture
from tests.worker.conftest import crew  # noqa: F401 a fixture
