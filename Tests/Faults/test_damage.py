"""Damaged databases: each is reported, none is changed, and a backup restores everything."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable

from daemon import BUILT, Daemon, Home
from load import Ledger, Writer
from report import FaultTest
from settings import DAMAGES, SEED

PAGE = 4_096


class Damaged(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.random = random.Random(SEED)
        self.ledger = Ledger("t")
        daemon = Daemon.ready(self.home)
        self.addCleanup(daemon.kill)
        with daemon.connect() as bridge:
            writer = Writer(bridge, self.ledger, SEED)
            writer.run_until(600)
            writer.finish()
            self.store("backup", "--force")
        # In order, so that the one file contains everything.
        self.assertEqual(daemon.stop(), 0)
        self.sound = self.home.records.read_bytes()

    @property
    def backup(self) -> str:
        return str(self.home.folder / "backup")

    def store(self, command: str, *flags: str) -> None:
        trestle = [BUILT / "trestle", "--socket", self.home.socket]
        subprocess.run([*trestle, "store", command, *flags, self.backup], check=True, capture_output=True)

    def truncate(self, content: bytearray) -> str:
        del content[self.random.randrange(1, len(content)):]
        return "cut off at a random place"

    def zero(self, content: bytearray) -> str:
        page = self.random.randrange(len(content) // PAGE)
        content[page * PAGE:(page + 1) * PAGE] = bytes(PAGE)
        return "a random page of zeros"

    def scramble(self, content: bytearray) -> str:
        page = self.random.randrange(len(content) // PAGE)
        content[page * PAGE:(page + 1) * PAGE] = self.random.randbytes(PAGE)
        return "a random page of random bytes"

    def overwrite_head(self, content: bytearray) -> str:
        content[:100] = self.random.randbytes(100)
        return "the first 100 bytes random"

    def damage(self) -> tuple[str, bytes]:
        kinds: list[Callable[[bytearray], str]] = [self.truncate, self.zero, self.scramble, self.overwrite_head]
        content = bytearray(self.sound)
        return self.random.choice(kinds)(content), bytes(content)

    def test_damaged(self) -> None:
        """A damaged or truncated database is refused with a clear error and not changed; a backup restores all"""
        kinds: Counter[str] = Counter()
        refused = 0
        for _ in range(DAMAGES):
            kind, content = self.damage()
            self.home.records.write_bytes(content)
            refused += self.is_refused(content, kind)
            kinds[kind] += 1
        # The last one is truncated, which is always noticed.
        content = bytearray(self.sound)
        self.home.records.write_bytes(content[:len(content) // 2])
        self.assertTrue(self.is_refused(bytes(content[:len(content) // 2]), "cut in half"))
        self.check_restored()
        self.row("database file damaged (" + ", ".join(f"{count} × {kind}" for kind, count in kinds.items()) + ")",
                 f"{DAMAGES} times", "the daemon does not start (status 1), reports which file is damaged and what to "
                 "do, and leaves it byte for byte; or it serves, if the damaged page contains no data, and every record "
                 "is unchanged; after the operator has moved a damaged file away, a restore of the backup returns "
                 "every record",
                 f"{refused} times refused with the reason, {DAMAGES - refused} times served with every record "
                 f"unchanged; {len(self.ledger.settled)} records restored")

    def is_refused(self, content: bytes, kind: str) -> bool:
        """Returns whether the database was refused; it may be used only if no stored data is damaged."""
        said = len(self.home.log)
        daemon = Daemon(self.home)
        if daemon.serves():
            self.check_served(daemon, kind)
            return False
        self.assertEqual(daemon.process.returncode, 1, kind)
        log = self.home.log[said:]
        self.assertIn(f"{self.home.records} is damaged", log, kind)
        self.assertIn("restore", log)
        self.assertEqual(self.home.records.read_bytes(), content, kind)
        return True

    def check_served(self, daemon: Daemon, kind: str) -> None:
        try:
            with daemon.connect() as bridge:
                self.ledger.check(bridge)
        except AssertionError as error:
            raise AssertionError(f"{kind}: served, and not as it was written") from error
        finally:
            daemon.kill()
            for suffix in ("-wal", "-shm"):
                self.home.records.with_name(self.home.records.name + suffix).unlink(missing_ok=True)

    def check_restored(self) -> None:
        """Restores the backup as described in docs/operations.md."""
        aside = self.home.state / "damaged"
        aside.mkdir()
        for file in self.home.state.glob("records.sqlite*"):
            shutil.move(file, aside)
        daemon = Daemon.ready(self.home)
        self.addCleanup(daemon.kill)
        self.store("restore")
        with daemon.connect() as bridge:
            self.ledger.check(bridge)
        self.assertEqual(daemon.stop(), 0)
