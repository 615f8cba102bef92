"""A wall clock that is set forward and back: only what is bound to the date goes by it."""

from __future__ import annotations

import mmap
import subprocess
import time
from pathlib import Path
from typing import Any

from daemon import Bridge, Daemon, Home
from report import FaultTest
from settings import ROUNDS

DAY = 86_400
STEPS = [400 * DAY, -400 * DAY, 3_600, -3_600, 0]


class Steps(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        library = self.home.folder / "clock.so"
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source], check=True)
        file = self.home.folder / "offset"
        file.write_bytes(bytes(8))
        with file.open("r+b") as opened:
            self.clock = mmap.mmap(opened.fileno(), 8)
        self.offset = 0
        self.steps = 0
        self.daemon = Daemon.ready(self.home, LD_PRELOAD=str(library), CLOCK_OFFSET_FILE=str(file))
        self.addCleanup(lambda: self.daemon.kill())

    def step(self, offset: int) -> None:
        """Sets the clock, and sees that the daemon's is the one that was set, and its other clock is not."""
        before = self.daemon.result("bridge.ping")
        self.clock[:] = offset.to_bytes(8, "little", signed=True)
        after = self.daemon.result("bridge.ping")
        passed = (after["monotonicNs"] - before["monotonicNs"]) // 1_000_000
        self.assertGreaterEqual(passed, 0)
        stepped = after["wallMs"] - before["wallMs"] - passed
        self.assertLess(abs(stepped - (offset - self.offset) * 1_000), 1_000)
        self.offset = offset
        self.steps += 1

    def provide(self) -> Bridge:
        """A task that nobody answers."""
        provider = self.daemon.connect()
        self.addCleanup(provider.__exit__)
        self.assertIn("result", provider.call("bridge.register", {"tasks": ["silent"]}))
        return provider

    def test_deadlines(self) -> None:
        """Deadlines neither end calls early nor keep them: they do not know the wall clock"""
        provider = self.provide()
        with self.daemon.connect() as caller:
            late = caller.send("silent", timeout=3_600_000)
            for offset in STEPS * ROUNDS:
                soon = caller.send("silent", timeout=100)
                self.step(offset)
                ended = caller.receive()
                self.assertEqual((ended["callbackId"], ended["error"]["code"]), (soon, "call.timeout"))
            caller.socket.sendall(b'{"cancel":%d}\n' % late)
            ended = caller.receive()
            self.assertEqual((ended["callbackId"], ended["error"]["code"]), (late, "call.cancelled"))
        provider.__exit__()
        self.row("the wall clock is set (by 400 days, by an hour, forward and back): calls", f"{self.steps} steps",
                 "a deadline of 100 ms ends its call, one of an hour does not",
                 f"{self.steps} calls ended with `call.timeout`, the long one was open until the end")

    def test_tokens(self) -> None:
        """A token expires by the date, and is good again when the date was wrong; who is logged in stays so"""
        ada = {"user": "ada", "password": "horse"}
        self.daemon.result("login.users.add", ada)
        with self.daemon.connect() as session:
            token = {"token": session.call("login", ada)["result"]["token"]}
            for _ in range(ROUNDS):
                self.step(31 * DAY)
                self.assertEqual(self.daemon.callback("login", token)["error"]["code"], "login.failed")
                self.assertEqual(session.call("login.status")["result"]["user"], "ada")
                self.step(-400 * DAY)
                self.assertEqual(self.daemon.result("login", token)["user"], "ada")
                self.step(0)
                self.assertEqual(self.daemon.result("login", token)["user"], "ada")
        self.row("the wall clock is set: tokens of 30 days", f"{self.steps} steps",
                 "refused while the date is past their expiry, valid before; a session stays logged in",
                 f"{ROUNDS} times refused after a step of 31 days, {2 * ROUNDS} times valid after steps back")

    def test_lock_out(self) -> None:
        """Who is locked out stays so whatever the wall clock says, and gets in when the time has passed"""
        ada = {"user": "ada", "password": "horse"}
        self.daemon.result("login.users.add", ada)
        for _ in range(7):
            self.guess()
        for offset in STEPS:
            self.step(offset)
            self.assertEqual(self.daemon.callback("login", ada)["error"]["code"], "login.locked")
        self.row("the wall clock is set: lock-out after wrong passwords", f"{self.steps} steps",
                 "it neither ends early nor becomes longer", "`login.locked` after each step")

    def guess(self) -> Any:
        """A wrong password, as often as it takes to be one that counts."""
        while True:
            error = self.daemon.callback("login", {"user": "ada", "password": "wrong"})["error"]
            if error["code"] == "login.failed":
                return
            # Asked more often, it is busy, and says nothing of a lock.
            time.sleep(error["retryAfter"] / 1000)

    def test_keys(self) -> None:
        """Keys that the daemon makes go on growing when the clock is set back"""
        keys = []
        for offset in STEPS * ROUNDS:
            self.step(offset)
            keys += [self.daemon.result("persistence.create", {"table": "t", "record": {}})["key"] for _ in range(5)]
        self.assertEqual(keys, sorted(keys))
        self.row("the wall clock is set: keys of records", f"{self.steps} steps", "keys increase in the order of creation",
                 f"{len(keys)} keys, in order")
