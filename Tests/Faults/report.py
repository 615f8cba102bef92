"""The table that a run prints: a row for each test, as in docs/reliability.md."""

from __future__ import annotations

import sys
import unittest
from typing import Any

HEADING = "| fault or attack | how often tried | what was promised | what was seen |\n| --- | --- | --- | --- |"


class FaultTest(unittest.TestCase):
    """A test that prints a row with its fault and its result."""

    def row(self, fault: str, tried: str, promised: str, seen: str) -> None:
        """Prints the row. Must be called last, after all checks."""
        print(f"| {fault} | {tried} | {promised} | {seen} |", flush=True)


class Sentences(unittest.TextTestResult):
    """Shows each test by its sentence about the daemon."""

    def getDescription(self, test: unittest.TestCase) -> str:
        return test.shortDescription() or str(test)


def run(suite: unittest.TestSuite) -> bool:
    """Runs the tests: rows go to standard output, results to standard error. Returns whether all have passed."""
    print(HEADING, flush=True)
    runner: Any = unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Sentences)
    result = runner.run(suite)
    return bool(result.wasSuccessful() and result.testsRun)
