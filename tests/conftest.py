"""pytest on the Python suites: `pytest tests/learn`. Labels are markers (`-m "not slow"`), and what a suite needs has to be built."""

import functools
import sys
import unittest
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS / "course" / "chapters")]

import suites  # noqa: E402


@functools.cache
def by_file():
    return {suite.file: suite for suite in suites.suites()}


def pytest_collection_modifyitems(items):
    for item in items:
        if suite := by_file().get(item.path):
            for label in suite.labels:
                item.add_marker(label)


@pytest.fixture(scope="module", autouse=True)
def module_cleanups():
    """What unittest.addModuleCleanup was given, which pytest does not do."""
    yield
    unittest.case.doModuleCleanups()
