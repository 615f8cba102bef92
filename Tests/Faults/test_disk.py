"""Failing and full disks: unstored writes are refused, stored data remains, and writes work again once the disk
does."""

from __future__ import annotations

import random
import re
from typing import Any

from daemon import Daemon, Home
from disks import Disk, ImageDisk, MemoryDisk
from injection import SYNC, WRITE, Injected
from load import Ledger, Writer, read_table, record
from report import FaultTest
from settings import ROUNDS, SEED

PROMISED = ("the write is refused ({}), nothing of it is stored; reads continue; writes continue with the disk, without "
            "a restart; also after a kill -9, each acknowledged write is present, and no refused one")


class DiskTest(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.random = random.Random(SEED)

    def begin(self) -> None:
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())
        self.ledger = Ledger("t")
        self.new_writer()

    def new_writer(self) -> None:
        self.writer = Writer(self.daemon.connect(), self.ledger, SEED)
        self.addCleanup(self.writer.bridge.__exit__)

    def restart(self) -> None:
        """Kills the daemon, and starts another one on the same state."""
        self.daemon.kill()
        self.daemon = Daemon.ready(self.home)
        self.new_writer()

    def check(self) -> None:
        with self.daemon.connect() as bridge:
            self.ledger.check(bridge)

    def check_reads(self) -> None:
        """Checks that reads and queries find acknowledged records, also while writes are refused."""
        with self.daemon.connect() as bridge:
            for key, number in list(self.ledger.settled.items())[:20]:
                message = bridge.call("persistence.read", {"table": "t", "key": key})
                self.assertIn("result", message, message)
                self.assertEqual(message["result"]["record"], record(number))
            self.assertEqual(read_table(bridge, "t"), self.ledger.settled)

    def refuse(self, count: int, code: str) -> None:
        """Writes until that number was refused; refusals must begin at some point."""
        wanted = self.ledger.refused.total() + count
        while self.ledger.refused.total() < wanted:
            self.writer.run_until(1)
        self.writer.finish()
        self.assertEqual(set(self.ledger.refused), {code})

    def go_on(self) -> None:
        """Checks that writes succeed again, from the very first one."""
        refused = self.ledger.refused.total()
        self.writer.run_until(100)
        self.writer.finish()
        self.assertEqual(self.ledger.refused.total(), refused)

    def seen(self) -> str:
        return (f"{self.ledger.acknowledged} acknowledged, all present; {self.ledger.refused.total()} refused, none of "
                "them present; " + ", ".join(f"`{code}`" for code in self.ledger.refused))


class FailingCalls(DiskTest):
    def try_fault(self, fault: str, calls: str, how: str, code: str) -> None:
        self.begin()
        for number in range(ROUNDS):
            self.go_on()
            # The first failing call differs in each round: within a commit, in the write of its log, in a checkpoint.
            # In the first round it is the first call: nothing has been read yet.
            first = self.random.randint(1, 40) if number else 1
            with Injected(self.daemon.pid, calls, f"{how}:when={first}+"):
                self.refuse(50, code)
                self.check_reads()
            self.go_on()
            self.check()
            if number % 2:
                self.restart()
                self.check()
        self.assertIn("the database was opened again", self.home.log)
        self.row(fault, f"{ROUNDS} times, for 50 and more writes each", PROMISED.format(f"`{code}`"), self.seen())

    def test_sync(self) -> None:
        """fsync fails: storage.failed, and it recovers"""
        self.try_fault("`fdatasync` fails with EIO", SYNC, "error=EIO", "storage.failed")

    def test_write(self) -> None:
        """Writing fails: storage.failed, and it recovers"""
        self.try_fault("`pwrite64` fails with EIO", WRITE, "error=EIO", "storage.failed")

    def test_write_full(self) -> None:
        """Writing finds no room: storage.full, and it recovers"""
        self.try_fault("`pwrite64` fails with ENOSPC", WRITE, "error=ENOSPC", "storage.full")

    def test_sync_full(self) -> None:
        """fsync finds no room, as with delayed allocation of blocks: refused, and it recovers"""
        self.try_fault("`fdatasync` fails with ENOSPC", SYNC, "error=ENOSPC", "storage.failed")

    def test_down_with_the_disk(self) -> None:
        """A refused write does not appear after the daemon is killed while the disk still fails"""
        self.begin()
        for _ in range(ROUNDS):
            self.go_on()
            with Injected(self.daemon.pid, SYNC, "error=EIO"):
                self.refuse(self.random.randint(1, 60), "storage.failed")
                self.daemon.kill()
            self.daemon = Daemon.ready(self.home)
            self.new_writer()
            self.check()
        self.row("`fdatasync` fails with EIO until the daemon is killed", f"{ROUNDS} times",
                 "no refused write is present after the next start", self.seen())

    def test_opened_anew(self) -> None:
        """After one failed fsync the database is reopened before the next write is acknowledged"""
        self.begin()
        for number in range(ROUNDS):
            with Injected(self.daemon.pid, SYNC, "error=EIO:when=1", also="openat,write,writev,sendto,sendmsg") as injected:
                with self.daemon.connect() as bridge:
                    options: Any = {"table": "one", "key": f"{number}", "record": {}}
                    self.assertEqual(bridge.call("persistence.create", options)["error"]["code"], "storage.failed")
                    self.assertIn("result", bridge.call("persistence.create", options))
            self.assertEqual(injected.count, 1)
            order = re.findall(
                r'INJECTED|openat\(.*/records\.sqlite",|\\"storage\.failed\\"|\\"version\\":', injected.trace)
            order = [mark[:9].strip("\\\"") for mark in order]
            failed, opened = order.index("INJECTED"), next(
                (place for place, mark in enumerate(order) if mark.startswith("openat")), len(order))
            self.assertNotIn("version", "".join(order[failed:opened]))
            self.assertIn("version", "".join(order[opened:]), injected.trace)
        self.row("one `fdatasync` fails with EIO", f"{ROUNDS} times, the daemon's system calls recorded",
                 "the database is opened again before another write is acknowledged", "as promised, each time")


class FullDisks(DiskTest):
    def fill(self, kind: type[Disk]) -> None:
        self.begin_on(kind)
        for number in range(ROUNDS):
            self.go_on()
            # Each time another file runs out of room: the log, its index, the database.
            self.disk.fill(self.random.randrange(0, 160) << 10)
            self.refuse(20, "storage.full")
            self.check_reads()
            self.disk.make_room()
            self.go_on()
            self.check()
            if number % 2:
                self.restart()
                self.check()
            self.shrink()
        self.row(f"disk full: {kind.name}", f"{ROUNDS} times, with different amounts of free space",
                 PROMISED.format("`storage.full`"), self.seen())

    def begin_on(self, kind: type[Disk]) -> None:
        self.disk = kind(self.home.folder / "disk")
        self.addCleanup(self.disk.remove)
        self.home.state = self.disk.folder / "state"
        self.begin()

    def shrink(self) -> None:
        """Deletes most records, so that the next round has room."""
        operations = [{"delete": {"table": "t", "key": key}} for key in self.ledger.settled]
        for first in range(0, len(operations), 500):
            self.daemon.result("persistence.transaction", {"operations": operations[first:first + 500]})
        self.ledger.settled.clear()

    def test_memory(self) -> None:
        """A tmpfs without room: storage.full, and it recovers once there is some"""
        self.fill(MemoryDisk)

    def test_image(self) -> None:
        """An ext4 without room: storage.full, and it recovers once there is some"""
        self.fill(ImageDisk)

    def test_start(self) -> None:
        """A daemon started on a full disk serves reads or reports why it cannot start, and no record is lost"""
        self.begin_on(ImageDisk)
        refused = 0
        for number in range(ROUNDS):
            self.go_on()
            if number % 2:
                # Its files are complete then, and the log's index must be created again.
                self.assertEqual(self.daemon.stop(), 0)
            self.daemon.kill()
            self.disk.fill(0)
            self.daemon = Daemon(self.home)
            refused += self.begins_or_says_why()
            self.disk.make_room()
            self.daemon.kill()
            self.daemon = Daemon.ready(self.home)
            self.new_writer()
            self.check()
            self.shrink()
        self.row("start on a full disk", f"{ROUNDS} times", "it serves reads, or ends with status 1 and reports that "
                 "the disk is full; with free space it starts, and all records are present",
                 f"{refused} times status 1 and `the disk is full`, {ROUNDS - refused} times served")

    def begins_or_says_why(self) -> bool:
        """Returns whether the start was refused."""
        if self.daemon.serves():
            self.check_reads()
            return False
        self.assertEqual(self.daemon.process.returncode, 1, self.home.log)
        self.assertIn("disk is full", self.home.log)
        return True
