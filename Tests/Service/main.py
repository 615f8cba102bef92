"""Runs every test, in the order of a package's life: installed, running, upgraded, removed, purged.

main.py [-k PATTERN]…: runs the tests whose names match. The package is always installed before the first.
"""

import argparse
import sys
import unittest

import machine
import test_faults
import test_fetch
import test_groups
import test_installed
import test_life
import test_network
import test_policy
import test_recovery
import test_reload
import test_restarts
import test_sandbox

ORDER = [
    test_installed.Installed,
    test_installed.Socket,
    test_installed.Status,
    test_sandbox.Sandbox,
    test_installed.Deployed,
    test_installed.UsersOwn,
    test_policy.Policy,
    test_groups.Groups,
    test_network.Network,
    test_fetch.Fetching,
    test_faults.Faults,
    test_reload.Reload,
    test_recovery.Misconfigured,
    test_recovery.Unable,
    test_restarts.Restarts,
    test_life.Stopped,
    test_life.Upgraded,
    test_life.Removed,
]


class Sentences(unittest.TextTestResult):
    """Shows each test by its sentence about the service."""

    def getDescription(self, test):
        return test.shortDescription() or str(test)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", action="append", metavar="PATTERN")
    patterns = parser.parse_args().k
    loader = unittest.TestLoader()
    loader.testNamePatterns = [pattern if "*" in pattern else f"*{pattern}*" for pattern in patterns or ["*"]]
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in ORDER)
    machine.install(1)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Sentences).run(suite)
    sys.exit(not (result.wasSuccessful() and result.testsRun))


main()
