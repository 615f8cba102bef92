"""Every fault and attack, tried on the release build of the daemon.

main.py [-k PATTERN]…: runs the tests whose names match. It needs root, strace and a mount namespace of its own;
scripts/test-faults provides them.
"""

from __future__ import annotations

import argparse
import signal
import sys
import unittest

import report
import test_accounts
import test_attacks
import test_clock
import test_damage
import test_disk
import test_events
import test_fetch_cache
import test_fetch_packages
import test_fetch_plugin
import test_fetch_random
import test_kill
import test_names
import test_resources
import test_stream_disk
import test_stream_limits
import test_stream_plugins
import test_streams
from settings import SEED

ORDER: list[type[unittest.TestCase]] = [
    test_disk.FailingCalls,
    test_disk.FullDisks,
    test_accounts.Accounts,
    test_damage.Damaged,
    test_kill.Killed,
    test_fetch_cache.CacheKilled,
    test_fetch_packages.InstallKilled,
    test_fetch_plugin.FetchKilled,
    test_fetch_random.RandomServers,
    test_clock.Steps,
    test_resources.Descriptors,
    test_resources.SlowDisk,
    test_resources.Memory,
    test_streams.Cuts,
    test_streams.Kills,
    test_streams.Many,
    test_stream_plugins.Plugins,
    test_stream_disk.FullDisk,
    test_stream_limits.FewDescriptors,
    test_stream_limits.BusyProcessors,
    test_stream_limits.Restarts,
    test_events.Events,
    test_names.Names,
    test_attacks.Strangers,
    test_attacks.Forgers,
    test_attacks.Origins,
    test_attacks.Guessers,
    test_attacks.Garbage,
]


def main() -> None:
    # As ^C does, so that daemons, disks and busy loops end with this program.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", action="append", metavar="PATTERN")
    patterns = parser.parse_args().k
    loader = unittest.TestLoader()
    loader.testNamePatterns = [pattern if "*" in pattern else f"*{pattern}*" for pattern in patterns or ["*"]]
    print(f"test-faults: FAULTS_SEED={SEED}", file=sys.stderr)
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in ORDER)
    sys.exit(not report.run(suite))


main()
