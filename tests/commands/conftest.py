"""A house for each test of commands."""

from tests.house import house  # noqa: F401 a fixture
