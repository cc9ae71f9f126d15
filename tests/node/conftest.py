"""A crew for tests of nodes, too."""

from tests.worker.conftest import crew  # noqa: F401 a fixture
