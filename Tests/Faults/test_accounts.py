"""A failing disk under the accounts."""

from __future__ import annotations

from typing import Any

from daemon import Daemon, Home
from injection import SYNC, WRITE, Injected
from report import FaultTest
from settings import ROUNDS


class Accounts(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())

    def names(self) -> set[str]:
        return {user["user"] for user in self.daemon.result("login.users.list")["users"]}

    def writes(self, number: int) -> list[tuple[str, dict[str, str]]]:
        writes = [
            ("login.users.add", {"user": f"refused{number}", "password": "horse"}),
            ("login.users.passwd", {"user": "ada", "password": "new horse"}),
            ("login", {"user": "ada", "password": "old horse"}),
        ]
        turn = number // 2 % len(writes)
        return writes[turn:] + writes[:turn]

    def refused(self, task: str, code: str, options: Any) -> None:
        self.assertEqual(self.daemon.callback(task, options).get("error", {}).get("code"), code)

    def try_fault(self, fault: str, calls: str, how: str, code: str) -> None:
        names = {"ada"}
        self.daemon.result("login.users.add", {"user": "ada", "password": "old horse"})
        token = self.daemon.result("login", {"user": "ada", "password": "old horse"})["token"]
        for number in range(ROUNDS):
            with Injected(self.daemon.pid, calls, how):
                # A different one is the last each time: its entry is the last in the log when the daemon is killed.
                for task, options in self.writes(number):
                    self.refused(task, code, options)
                # Operations without writes still work.
                self.assertEqual(self.daemon.result("login", {"token": token})["user"], "ada")
                self.assertEqual(self.names(), names)
                if number % 2:
                    self.daemon.kill()
            if number % 2:
                self.daemon = Daemon.ready(self.home)
            self.assertEqual(self.names(), names)
            self.daemon.result("login", {"user": "ada", "password": "old horse"})
            self.daemon.result("login.users.add", {"user": f"added{number}", "password": "horse"})
            names.add(f"added{number}")
            self.assertEqual(self.daemon.result("login", {"token": token})["user"], "ada")
        self.row(fault, f"{ROUNDS} times, every second until a kill -9",
                 f"changes of accounts, passwords and tokens are refused (`{code}`), and no refused change is present "
                 "later; logins by token continue",
                 f"{3 * ROUNDS} refused, none of them present; {ROUNDS + 1} accounts added, all present")

    def test_sync(self) -> None:
        """fsync fails while an account is added, changed, logged in to: refused, and not done"""
        self.try_fault("accounts: `fdatasync` fails with EIO", SYNC, "error=EIO", "storage.failed")

    def test_full(self) -> None:
        """The disk has no room for an account, a password, a token: refused, and not done"""
        self.try_fault("accounts: `pwrite64` fails with ENOSPC", WRITE, "error=ENOSPC", "storage.full")
