"""The daemon is killed at random moments while clients write."""

from __future__ import annotations

import random
import signal
import threading

from daemon import Daemon, Home
from injection import SYNC, WRITE, Injected
from load import Ledger, Writer
from report import FaultTest
from settings import KILLS, KILLS_IN_CALL, SEED

CLIENTS = 3
PROMISED = ("each acknowledged write is present, with its content; of each transaction that was not acknowledged all "
            "or nothing; nothing else")


class Cycle:
    """Clients that write, each into a table of its own, until the daemon has ended."""

    def __init__(self, daemon: Daemon, number: int) -> None:
        self.daemon = daemon
        self.ledgers = [Ledger(f"c{number}w{client}") for client in range(CLIENTS)]
        self.writers = [Writer(daemon.connect(), ledger, SEED + number * CLIENTS + client)
                        for client, ledger in enumerate(self.ledgers)]
        self.threads = [threading.Thread(target=writer.run) for writer in self.writers]

    def begin(self) -> None:
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        for thread in self.threads:
            thread.join()
        for writer in self.writers:
            writer.bridge.__exit__()

    @property
    def acknowledged(self) -> int:
        return sum(ledger.acknowledged for ledger in self.ledgers)


class Killed(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.random = random.Random(SEED)
        self.ledgers: list[Ledger] = []
        self.unanswered = 0
        self.found_done = 0

    def check(self, daemon: Daemon, ledgers: list[Ledger]) -> None:
        with daemon.connect() as bridge:
            for ledger in ledgers:
                self.unanswered += len(ledger.pending)
                self.found_done += ledger.check(bridge)

    def take(self, cycle: Cycle) -> None:
        """Records the ledgers of a cycle, and compares them with the next daemon."""
        for ledger in cycle.ledgers:
            self.assertFalse(ledger.refused, "the daemon refused what it could have done")
        self.ledgers += cycle.ledgers
        daemon = Daemon.ready(self.home)
        self.check(daemon, cycle.ledgers)
        # Killed as well: stored data must not depend on a regular end.
        daemon.kill()

    def check_all(self) -> str:
        """Checks all records after all cycles. Returns a summary."""
        daemon = Daemon.ready(self.home)
        unanswered, done = self.unanswered, self.found_done
        self.check(daemon, self.ledgers)
        self.assertEqual(daemon.stop(), 0)
        acknowledged = sum(ledger.acknowledged for ledger in self.ledgers)
        self.assertGreater(acknowledged, 0)
        return (f"{acknowledged} acknowledged writes, all present; {unanswered} not answered, of which {done} were "
                "present as a whole and the others not at all")

    def test_at_random(self) -> None:
        """kill -9 at a random moment under write load: acknowledged writes exist, and no write is half done"""
        for number in range(KILLS):
            daemon = Daemon.ready(self.home)
            cycle = Cycle(daemon, number)
            cycle.begin()
            # From before the first commit until many are in progress: a random time, and no condition.
            threading.Event().wait(self.random.uniform(0, 0.15))
            daemon.kill()
            cycle.end()
            self.take(cycle)
        self.row("kill -9 under write load, at a random moment", f"{KILLS} kills, {CLIENTS} clients with 32 calls in "
                 "flight each", PROMISED, self.check_all())

    def test_in_a_call(self) -> None:
        """Killed at the entry of a chosen write or fsync, during a commit: the same"""
        for number in range(KILLS_IN_CALL):
            daemon = Daemon.ready(self.home)
            cycle = Cycle(daemon, number)
            calls, most = self.random.choice([(WRITE, 60), (SYNC, 12)])
            with Injected(daemon.pid, calls, f"signal=KILL:when={self.random.randint(1, most)}"):
                cycle.begin()
                cycle.end()
                self.assertEqual(daemon.wait(), -signal.SIGKILL)
            self.take(cycle)
        self.row("kill -9 at a chosen `pwrite64` or `fdatasync` of a commit", f"{KILLS_IN_CALL} kills", PROMISED,
                 self.check_all())
