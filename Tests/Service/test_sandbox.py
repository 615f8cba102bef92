"""The sandbox of the unit: the permissions of plugins and their processes."""

import glob
import os
import signal

from bridge import Bridge, call
from machine import SERVICE, ServiceTest, run

# The needs of a plugin's process: a socket to its parent, limits of its own, a program to run.
PARENT = """
import resource, socket, subprocess
ours, theirs = socket.socketpair()

def limit():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_NPROC, (16, 16))

child = subprocess.Popen(["/bin/cat"], stdin=theirs, stdout=theirs, preexec_fn=limit)
ours.sendall(b"work")
assert ours.recv(4) == b"work"
ours.close(), theirs.close()
child.kill()
child.wait()
"""


# A plugin process that answers every call of its task with its limit of descriptors.
SCRIPT = """#!/bin/sh
exec <&3 >&3
while read -r message; do
    id=$(printf '%s' "$message" | sed 's/.*"callbackId":\\([0-9]*\\).*/\\1/')
    case $message in
    *'"task":"limited"'*) printf '{"callbackId":%s,"result":%s}\\n' "$id" "$(ulimit -n)" ;;
    *) printf '{"callbackId":%s,"result":{}}\\n' "$id" ;;
    esac
done
"""
MANIFEST = """command = ["./limited.sh"]
version = "1"
limits = { descriptors = 50, memory = "256MiB", processes = 64 }

[[tasks]]
name = "limited"
summary = "Returns how many descriptors it may have."
"""


class Sandbox(ServiceTest):
    def test_plugins(self):
        """Every plugin of the package is loaded and running in the sandbox"""
        plugins = call("bridge.plugins")["plugins"]
        self.assertEqual(len(plugins), len(glob.glob("/usr/lib/trestle/plugins/*.so")))
        self.assertEqual([plugin for plugin in plugins if plugin["state"] != "running"], [])

    def test_process(self):
        """A process of the service can start another with limits of its own, and exchange messages with it"""
        with open("/run/parent.py", "w") as file:
            file.write(PARENT)
        # ExecStartPre runs in the same sandbox, and the daemon does not start if it fails.
        self.change_unit("ExecStartPre=/usr/bin/python3 /run/parent.py")
        self.assertIn("result", Bridge().call("bridge.ping"))

    def test_isolated(self):
        """A plugin runs in a process of its own if its section requests it, and is restarted when that is killed"""
        self.change_configuration('[plugins.echo]\nisolation = "process"\n')
        run("systemctl", "restart", SERVICE)
        self.assertEqual(call("Echo", 1), 1)

        def echo():
            return next(plugin for plugin in call("bridge.plugins")["plugins"] if plugin["name"] == "echo")

        first = echo()
        self.assertEqual(first["isolation"], "process")
        with Bridge() as bridge:
            bridge.call("bridge.subscribe", {"events": ["plugin.started"]})
            os.kill(first["pid"], signal.SIGKILL)
            self.assertEqual(bridge.receive()["data"]["name"], "echo")
        self.assertNotIn(echo()["pid"], (None, first["pid"]))
        self.assertEqual(call("Echo", 2), 2)

    def test_executable(self):
        """An executable with a manifest provides its tasks, within its limits"""
        folder = "/usr/lib/trestle/plugins"
        with open(f"{folder}/limited.sh", "w") as file:
            file.write(SCRIPT)
        os.chmod(f"{folder}/limited.sh", 0o755)
        with open(f"{folder}/limited.plugin.toml", "w") as file:
            file.write(MANIFEST)
        for name in ("limited.sh", "limited.plugin.toml"):
            self.addCleanup(os.unlink, f"{folder}/{name}")
        run("systemctl", "restart", SERVICE)
        self.assertEqual(call("limited"), 50)
