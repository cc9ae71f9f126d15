"""A whole Detent for each test of workers."""

from tests.works import works  # noqa: F401 a fixture
