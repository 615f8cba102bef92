"""A wall clock that is set forward and back: only date-dependent functions use it."""

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
        """Sets the clock, and checks that the daemon's wall clock has changed, and its other clock has not."""
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
        """Provides a task that is never answered."""
        provider = self.daemon.connect()
        self.addCleanup(provider.__exit__)
        self.assertIn("result", provider.call("bridge.register", {"tasks": ["silent"]}))
        return provider

    def test_deadlines(self) -> None:
        """Deadlines end calls neither early nor late: they do not depend on the wall clock"""
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
        """A token expires by the date, and is valid again after the date is corrected; a login stays valid"""
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
        """A lock-out does not depend on the wall clock, and ends when its time has passed"""
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
        """Tries a wrong password until one is counted."""
        while True:
            error = self.daemon.callback("login", {"user": "ada", "password": "wrong"})["error"]
            if error["code"] == "login.failed":
                return
            # If the interval is too short, the daemon is busy, and the guess does not count.
            time.sleep(error["retryAfter"] / 1000)

    def test_keys(self) -> None:
        """Keys that the daemon creates increase when the clock is set back"""
        keys = []
        for offset in STEPS * ROUNDS:
            self.step(offset)
            keys += [self.daemon.result("persistence.create", {"table": "t", "record": {}})["key"] for _ in range(5)]
        self.assertEqual(keys, sorted(keys))
        self.row("the wall clock is set: keys of records", f"{self.steps} steps",
                 "keys increase in the order of creation",
                 f"{len(keys)} keys, in order")
