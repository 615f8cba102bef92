"""The table that a run prints: a row for each test, as it stands in docs/reliability.md."""

from __future__ import annotations

import sys
import unittest
from typing import Any

HEADING = "| fault or attack | how often tried | what was promised | what was seen |\n| --- | --- | --- | --- |"


class FaultTest(unittest.TestCase):
    """A test that says in a row what it tried, and what came of it."""

    def row(self, fault: str, tried: str, promised: str, seen: str) -> None:
        """Prints the row. To be called last: whatever was promised has been checked by then."""
        print(f"| {fault} | {tried} | {promised} | {seen} |", flush=True)


class Sentences(unittest.TextTestResult):
    """Shows each test by what it says of the daemon."""

    def getDescription(self, test: unittest.TestCase) -> str:
        return test.shortDescription() or str(test)


def run(suite: unittest.TestSuite) -> bool:
    """Rows go to standard output, how the tests end to standard error. Whether all is well."""
    print(HEADING, flush=True)
    runner: Any = unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Sentences)
    result = runner.run(suite)
    return bool(result.wasSuccessful() and result.testsRun)
