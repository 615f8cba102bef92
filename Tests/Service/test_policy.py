"""Permissions: the folder of the rules, the group, and rules about units."""

import json
import os
import stat
import subprocess

from bridge import LIMIT, SOCKET
from machine import RULES, ServiceTest, run

WATCHERS = '[[rule]]\nallow = "call"\nnames = "bridge.admin"\nunit = "watcher.service"\n'


class Policy(ServiceTest):
    def code(self, task, *command):
        """Makes a call from a program that the command runs; returns the error's code, or None."""
        said = subprocess.run(
            [*command, "socat", "-t", f"{LIMIT}", "-", f"UNIX-CONNECT:{SOCKET}"], capture_output=True,
            input=json.dumps({"task": task, "callbackId": 1}).encode() + b"\n")
        self.assertNotEqual(said.stdout, b"", said.stderr)
        return json.loads(said.stdout).get("error", {}).get("code")

    def test_folder(self):
        """The folder of the rules belongs to the package and to root, and is empty"""
        status = os.stat(RULES)
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid), (0o755, 0, 0))
        self.assertEqual(os.listdir(RULES), [])
        self.assertIn(RULES, run("dpkg", "--listfiles", "trestle").splitlines())

    def test_group(self):
        """Members of the group may call the public tasks, and no others"""
        member = ["setpriv", "--reuid=65534", "--regid=65534", f"--groups={self.group()}"]
        self.assertIsNone(self.code("Echo", *member))
        self.assertIsNone(self.code("login.status", *member))
        for task in ("bridge.status", "login.users.list", "persistence.backup"):
            self.assertEqual(self.code(task, *member), "permission.denied", task)

    def test_unit(self):
        """A rule about a unit applies to the programs in it, and to no others of the same user"""
        self.rule(WATCHERS)
        self.assertIsNone(self.code_in("watcher.service", "bridge.status"))
        self.assertEqual(self.code_in("watcher.service", "login.users.list"), "permission.denied")
        self.assertEqual(self.code_in("other.service", "bridge.status"), "permission.denied")

    def test_unit_unseen(self):
        """A daemon that sees only its own processes assigns no client to a unit, and otherwise works"""
        self.rule(WATCHERS)
        self.change_unit("ProtectProc=invisible")
        self.assertEqual(self.code_in("watcher.service", "bridge.status"), "permission.denied")
        self.assertIsNone(self.code_in("watcher.service", "Echo"))

    def code_in(self, unit, task):
        """The same from a program of the group that runs in a unit."""
        return self.code(
            task, "systemd-run", "--quiet", "--wait", "--pipe", "--collect", f"--unit={unit}", "--uid=65534",
            f"--property=SupplementaryGroups={self.group()}")

    @staticmethod
    def group():
        return run("getent", "group", "trestle").split(":")[2]
