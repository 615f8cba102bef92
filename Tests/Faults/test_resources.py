"""Exhausted descriptors, a slow disk, and a plugin that uses all its memory."""

from __future__ import annotations

import resource
import shutil
import time
from contextlib import ExitStack

from daemon import LIMIT, ROOT, Daemon, Home
from injection import SYNC, Injected
from load import Ledger, Writer
from report import FaultTest
from settings import ROUNDS, SEED


class Descriptors(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())

    def limit(self, count: int) -> None:
        resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (count, 4_096))

    def check_serves(self, number: int) -> None:
        with self.daemon.connect() as bridge:
            self.assertIn("result", bridge.call("persistence.create", {"table": "t", "key": f"{number}", "record": {}}))

    def test_real(self) -> None:
        """Without descriptors new connections are closed at once, and connected clients are served"""
        turned_away = 0
        start = time.monotonic()
        with self.daemon.connect() as early:
            for number in range(ROUNDS):
                self.limit(128)
                turned_away += self.flood()
                for _ in range(10):
                    message = early.call("persistence.create", {"table": "t", "record": {}})
                    self.assertIn("result", message)
                    self.assertIn("result", early.call("persistence.query", {"table": "t"}))
                self.limit(4_096)
                self.check_serves(number)
        self.assertIn("too many open files", self.home.log)
        lines = self.home.log.count("too many open files")
        # One immediately, and then one in ten seconds.
        self.assertLessEqual(lines, 2 + (time.monotonic() - start) / 10)
        self.row("no descriptors left (`prlimit --nofile=128`)", f"{ROUNDS} times, 200 clients each",
                 "a new connection gets `busy` and is closed at once, with a line in the log; connected clients "
                 "read and write; new clients are served when descriptors are free",
                 f"{turned_away} refused, {lines} lines in the log, served again each time")

    def flood(self) -> int:
        """Connects 200 clients; returns how many were refused: none of them waits, and each that can read gets the
        reason."""
        turned_away = 0
        with_reason = 0
        with ExitStack() as stack:
            for _ in range(200):
                bridge = stack.enter_context(self.daemon.connect())
                try:
                    bridge.send("bridge.ping")
                except OSError:
                    # The connection was closed before this was sent; the daemon's message can be read all the same.
                    pass
                message = bridge.receive()
                if message is not None and "result" in message:
                    continue
                turned_away += 1
                if message is not None:
                    self.assertEqual((message["callbackId"], message["error"]["code"]), (None, "busy"))
                    self.assertIn("retryAfter", message["error"])
                    with_reason += 1
        self.assertGreater(turned_away, 0)
        self.assertEqual(with_reason, turned_away)
        return turned_away

    def test_injected(self) -> None:
        """accept fails with EMFILE or ENFILE: the same, with a pause instead of a busy loop"""
        for number in range(ROUNDS):
            error = "EMFILE" if number % 2 else "ENFILE"
            with self.daemon.connect() as early, Injected(
                    self.daemon.pid, "accept,accept4", f"error={error}") as injected:
                late = self.daemon.connect()
                self.assertTrue(injected.is_hit.wait(LIMIT))
                for _ in range(100):
                    self.assertIn("result", early.call("Echo"))
            # It was not refused, because not even that was possible: it waited.
            with late:
                self.assertIn("result", late.call("Echo"))
            self.check_serves(number)
        self.row("`accept` fails with EMFILE, ENFILE", f"{ROUNDS} times",
                 "connected clients are served; waiting clients are served when it works again",
                 "as promised, each time")


class SlowDisk(FaultTest):
    def test_slow(self) -> None:
        """While a commit waits for a slow disk, calls without disk access are answered; acknowledged writes remain"""
        home = Home()
        self.addCleanup(home.remove)
        daemon = Daemon.ready(home)
        self.addCleanup(lambda: daemon.kill())
        ledger = Ledger("t")
        answered = 0
        for number in range(ROUNDS):
            writer = Writer(daemon.connect(), ledger, SEED, window=8)
            with daemon.connect() as other, Injected(daemon.pid, SYNC, "delay_enter=5000000"):
                writer.fill()
                for _ in range(20):
                    self.assertIn("result", other.call("Echo"))
                    self.assertIn("result", other.call("persistence.query", {"table": "t", "limit": 1}))
                # All of them before the end of the first commit: they did not wait for it.
                writer.bridge.socket.setblocking(False)
                with self.assertRaises(BlockingIOError):
                    writer.bridge.socket.recv(1)
                writer.bridge.socket.settimeout(60)
                answered += 40
                writer.run_until(1)
                daemon.kill()
            writer.take_rest()
            writer.bridge.__exit__()
            daemon = Daemon.ready(home)
            with daemon.connect() as bridge:
                ledger.check(bridge)
        self.row("slow disk: each `fdatasync` takes 5 s longer", f"{ROUNDS} times, killed after the first acknowledgement",
                 "others' calls, and queries, are answered before the commit ends; each acknowledged write is present",
                 f"{answered} calls answered before the end of {ROUNDS} commits; {ledger.acknowledged} acknowledged "
                 "writes, all present")


class Memory(FaultTest):
    def test_worker(self) -> None:
        """A worker past its memory limit ends its own calls with plugin.crashed; others continue, and it is
        restarted"""
        home = Home(configuration="[plugins.eats-memory]\npool = { min = 1, max = 1 }\n")
        self.addCleanup(home.remove)
        plugins = home.folder / "plugins"
        plugins.mkdir()
        for name in ("eats-memory.plugin.toml", "hostile.py", "hostile_worker.py"):
            shutil.copy(ROOT / "Tests/HostilePlugins" / name, plugins)
        for library in (ROOT / ".build/release").glob("lib*Plugin.so"):
            (plugins / library.name).symlink_to(library)
        daemon = Daemon.ready(home, ("--plugin-dir", str(plugins)))
        self.addCleanup(lambda: daemon.kill())
        pid = daemon.pid
        with daemon.connect() as bridge, daemon.connect() as other:
            for _ in range(4):
                call = bridge.send("hostile.eats-memory")
                for _ in range(100):
                    self.assertIn("result", other.call("Echo"))
                self.assertIn("result", other.call("persistence.create", {"table": "t", "record": {}}))
                ended = bridge.receive()
                self.assertEqual((ended["callbackId"], ended["error"]["code"]), (call, "plugin.crashed"), ended)
                self.assertIn("result", bridge.call("hostile.eats-memory.good", timeout=50_000))
        self.assertEqual(daemon.pid, pid)
        self.row("a plugin's process takes more than its `memory` limit", "4 times",
                 "its call ends with `plugin.crashed`, others' calls continue, it is started again",
                 "as promised; 404 calls of others answered meanwhile")
