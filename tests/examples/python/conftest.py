"""A process for each worker of pytest-xdist, and in it a mall for each test."""

import pytest

import mallbox

EVENING = "2026-11-21T20:00:00"


@pytest.fixture(scope="session")
def first_mall():
    with mallbox.start() as first:
        yield first


@pytest.fixture
def mall(first_mall):
    """A mall that nobody has touched. Its clock stands until the test moves it."""
    with first_mall.another(start=EVENING, frozen=True) as fresh:
        yield fresh
