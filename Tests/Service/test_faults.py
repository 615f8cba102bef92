"""The reaction of systemd when the daemon is killed, hangs or uses too much memory."""

import os
import signal
import unittest

from bridge import Bridge, call
from machine import ServiceTest, StoppedThread, journal, main_process, show


def memory_is_counted():
    """Whether systemd can limit a unit's memory on this machine."""
    return show("MemoryCurrent") not in ("", "[not set]", "18446744073709551615")


class Faults(ServiceTest):
    def test_killed(self):
        """A killed daemon is restarted, and keeps every record"""
        stored = [call("persistence.create", {"table": "killed", "record": {"n": n}}) for n in range(20)]
        process = main_process()
        os.kill(process, signal.SIGKILL)
        self.wait_for_restart(process)
        for n, record in enumerate(stored):
            self.assertEqual(call("persistence.read", {"table": "killed", "key": record["key"]})["record"], {"n": n})

    # More than a healthy daemon waits on a busy machine.
    WATCHDOG = "WatchdogSec=10s"

    def test_hung_loop(self):
        """A daemon whose loop hangs while its other threads run is ended by the watchdog, and restarted"""
        self.assertNotIn(show("WatchdogUSec"), ("0", "infinity"), "the unit has no watchdog")
        self.change_unit(self.WATCHDOG)
        process = main_process()
        with StoppedThread(process, "loop"):
            self.wait_for_restart(process)
        self.assertIn("Watchdog timeout", journal(self.started))

    def test_hung(self):
        """A daemon that hangs completely is ended by the watchdog, and restarted"""
        self.change_unit(self.WATCHDOG)
        process = main_process()
        os.kill(process, signal.SIGSTOP)
        self.wait_for_restart(process)
        self.assertIn("Watchdog timeout", journal(self.started))

    def test_watchdog_leaves_alone(self):
        """A daemon that is constantly busy with calls is not ended by the watchdog"""
        self.change_unit(self.WATCHDOG)
        process = main_process()
        feedings = set()
        with Bridge() as bridge:
            # The first notification is that of the start.
            while len(feedings) < 4:
                for _ in range(1_000):
                    bridge.send("Echo", {"text": "x" * 100})
                for _ in range(1_000):
                    self.assertIn("result", bridge.receive())
                feedings.add(show("WatchdogTimestampMonotonic"))
                self.assertEqual(main_process(), process)

    def test_memory(self):
        """A daemon that exceeds its memory limit is killed, and restarted"""
        if not memory_is_counted():
            raise unittest.SkipTest("this machine's control groups do not count memory")
        self.change_unit("MemoryMax=48M", "MemoryHigh=infinity", "MemorySwapMax=0")
        process = main_process()
        bridges = []
        # Lines without an end: each session may buffer one of nearly 1 MiB.
        try:
            for _ in range(200):
                bridge = Bridge()
                bridges.append(bridge)
                bridge.socket.sendall(b'{"task":"Echo","options":"' + b"x" * 1_000_000)
        except OSError:
            pass  # The daemon has already ended.
        self.wait_for_restart(process)
        for bridge in bridges:
            bridge.__exit__()
        # With control groups of version 1 systemd does not know why the kernel killed it.
        self.assertRegex(journal(self.started), "status=9/KILL|oom-kill")

    def test_again(self):
        """The daemon is restarted repeatedly, not only once"""
        for _ in range(3):
            process = main_process()
            os.kill(process, signal.SIGKILL)
            self.wait_for_restart(process)
