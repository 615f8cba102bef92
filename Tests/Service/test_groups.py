"""Control groups of plugin processes: with the drop-in that delegates the unit's group, and without."""

import glob
import os
import re

from bridge import call
from machine import SERVICE, ServiceTest, main_process, run, show

EXAMPLE = "/usr/share/doc/trestle/delegate.conf"
PLUGINS = "/usr/lib/trestle/plugins"

# "leave" starts a process without a parent, in a session of its own, and answers with its number. "ask" calls Echo as a
# client, and answers with the callback.
PROGRAM = """#!/usr/bin/python3
import json, os, signal, socket

def leave():
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.close(3)
            os.write(write, str(os.getpid()).encode())
            while True:
                signal.pause()
        os._exit(0)
    os.wait()
    return int(os.read(read, 16))

def ask():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("/run/trestle/bridge.sock")
        client.sendall(b'{"task":"Echo","callbackId":1}\\n')
        return json.loads(client.makefile().readline())

daemon = socket.socket(fileno=3)
for line in daemon.makefile():
    message = json.loads(line)
    if "callbackId" not in message:
        continue
    result = {"leave": leave, "ask": ask}.get(message.get("task"), dict)()
    daemon.sendall(json.dumps({"callbackId": message["callbackId"], "result": result}).encode() + b"\\n")
"""
MANIFEST = """command = ["./leaver.py"]
version = "1"

[[tasks]]
name = "leave"
summary = "Leaves a process behind."

[[tasks]]
name = "ask"
summary = "Calls Echo."
"""
DENIAL = '[[rule]]\ndeny = "call"\nnames = "Echo"\nunit = "trestle.service"\n'


class Groups(ServiceTest):
    def setUp(self):
        for name, text, mode in (("leaver.py", PROGRAM, 0o755), ("leaver.plugin.toml", MANIFEST, 0o644)):
            with open(f"{PLUGINS}/{name}", "w") as file:
                file.write(text)
            os.chmod(f"{PLUGINS}/{name}", mode)
            self.addCleanup(os.unlink, f"{PLUGINS}/{name}")
        super().setUp()

    def delegate(self):
        with open(EXAMPLE) as file:
            self.change_unit(*file.read().splitlines())

    def test_delegated(self):
        """With the drop-in each plugin process has a control group, and its orphaned children end with it"""
        self.delegate()
        self.assertEqual((show("Delegate"), show("DelegateControllers"), show("OOMPolicy")), ("yes", "", "stop"))
        folder = self.group_folder()
        group = os.path.basename(self.group(self.process()))
        self.assertRegex(group, r"^plugin-\d+$")
        self.assertEqual(self.group(main_process()), os.path.dirname(self.group(self.process())))
        left = call("leave")
        self.assertEqual(self.group(left), self.group(self.process()))
        self.assertEqual(call("bridge.plugin.unload", {"name": "leaver"}), {})
        self.assertFalse(os.path.exists(f"/proc/{left}"))
        self.assertFalse(os.path.exists(f"{folder}/{group}"))

    def test_not_delegated(self):
        """Without the drop-in there are no such groups, and orphaned children still end with the plugin process"""
        self.assertEqual(show("Delegate"), "no")
        left = call("leave")
        self.assertEqual(self.group(left), self.group(main_process()))
        self.assertEqual(call("bridge.plugin.unload", {"name": "leaver"}), {})
        self.assertFalse(os.path.exists(f"/proc/{left}"))

    def test_restart(self):
        """After a restart or a crash no process or group of the previous daemon remains, and the next makes its own"""
        self.delegate()
        folder = self.group_folder()
        for restart in (lambda: run("systemctl", "restart", SERVICE), lambda: os.kill(main_process(), 9)):
            process, left = main_process(), call("leave")
            restart()
            self.wait_for_restart(process)
            self.assertFalse(os.path.exists(f"/proc/{left}"))
            groups = {f"{folder}/{os.path.basename(self.group(process))}" for process in self.processes()}
            self.assertEqual(set(glob.glob(f"{folder}/plugin-*")), groups)
        run("systemctl", "stop", SERVICE)
        self.assertFalse(os.path.exists(folder))

    def test_reload(self):
        """systemctl reload works with the drop-in"""
        self.delegate()
        self.rule(DENIAL)

    def test_unit(self):
        """A rule about the daemon's unit applies to its plugin processes, with and without groups of their own"""
        self.rule(DENIAL)
        for delegate in (False, True):
            if delegate:
                self.delegate()
            self.assertEqual(call("ask").get("error", {}).get("code"), "permission.denied", f"delegated: {delegate}")
            self.assertEqual(call("Echo", {"from": "elsewhere"}), {"from": "elsewhere"})

    def test_exposure(self):
        """The drop-in raises the exposure by 0.1, as documented, and only the unit's group is writable"""
        before = self.exposure()
        self.delegate()
        self.assertAlmostEqual(self.exposure() - before, 0.1)
        self.assertEqual(show("ProtectControlGroups"), "yes")
        mounts = [line.split() for line in open(f"/proc/{main_process()}/mountinfo")]
        writable = [mount[4] for mount in mounts if "cgroup" in mount[4] and "rw" in mount[5].split(",")]
        self.assertEqual(writable, [self.group_folder()])
        print(f"exposure {before}, with the drop-in {self.exposure()}", end=" ")

    @staticmethod
    def exposure():
        text = run("systemd-analyze", "security", "--no-pager", SERVICE)
        return float(re.search(r"Overall exposure level .*: ([0-9.]+)", text)[1])

    def group_folder(self):
        """Returns the directory of the daemon's own group, wherever cgroup v2 is mounted."""
        folders = [mount + self.group(main_process()) for mount in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")]
        return next(folder for folder in folders if os.path.exists(f"{folder}/cgroup.procs"))

    @staticmethod
    def process():
        return next(plugin["pid"] for plugin in call("bridge.plugins")["plugins"] if plugin["name"] == "leaver")

    @staticmethod
    def processes():
        """Returns the processes of all plugins that have one of their own."""
        return [plugin["pid"] for plugin in call("bridge.plugins")["plugins"] if "pid" in plugin]

    @staticmethod
    def group(process):
        """Returns the cgroup v2 group of a process."""
        return next(line.strip()[3:] for line in open(f"/proc/{process}/cgroup") if line.startswith("0::"))
