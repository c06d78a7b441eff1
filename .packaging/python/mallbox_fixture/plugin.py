"""The fixtures of pytest: a process for each worker of pytest-xdist, and in it a mall for each test."""

import pytest

from . import start


@pytest.fixture(scope="session")
def first_mall():
    """The mall that the process starts with; tests share it."""
    with start() as first:
        yield first


@pytest.fixture
def mall(first_mall):
    """A mall that nobody has touched. Its clock stands until the test moves it."""
    with first_mall.another(frozen=True) as fresh:
        yield fresh
