"""The files that the package installs, and the start of the daemon."""

import glob
import os
import signal
import stat
import subprocess
import unittest

from bridge import LIMIT, SOCKET, Bridge, call
from machine import (CONFIGURATION, PRESENTER, SERVICE, UNIT_SOCKET, ServiceTest, is_active, main_process, run, show,
                     wait_until)


class Installed(unittest.TestCase):
    def test_libraries(self):
        """Every program and plugin finds its libraries, and none of them in a toolchain"""
        files = glob.glob("/usr/lib/trestle/**/*.so", recursive=True) + ["/usr/bin/trestle", "/usr/bin/trestled"]
        self.assertGreater(len(files), 10)
        for file in files:
            for line in run("ldd", file).splitlines():
                self.assertNotIn("not found", line, file)
                name, _, path = line.strip().partition(" => ")
                if "swift" in name or "Foundation" in name or "dispatch" in name:
                    real = os.path.realpath(path.split(" ")[0])
                    self.assertEqual(os.path.dirname(real), "/usr/lib/trestle", f"{file}: {line}")

    def test_units(self):
        """systemd reports no problem with the units"""
        for folder, manager in (("/lib/systemd/system", "--system"), ("/usr/lib/systemd/user", "--user")):
            for unit in glob.glob(f"{folder}/trestle*"):
                # A user's manager requires the directory that a login would have created.
                os.makedirs("/run/user/0", exist_ok=True)
                done = subprocess.run(
                    ["systemd-analyze", manager, "verify", "--man=no", unit], capture_output=True, text=True,
                    env={**os.environ, "XDG_RUNTIME_DIR": "/run/user/0"})
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), unit)

    def test_exposure(self):
        """systemd rates the service's exposure as low"""
        run("systemd-analyze", "security", "--no-pager", "--threshold=15", SERVICE)

    def test_configuration(self):
        """The sample configuration is valid, and a conffile of the package"""
        self.assertIn("valid:", run("trestled", "--config", CONFIGURATION, "--check-config"))
        self.assertIn(CONFIGURATION, run("dpkg-query", "--show", "--showformat=${Conffiles}", "trestle"))

    def test_account(self):
        """The daemon has a user of its own, which cannot log in"""
        name, _, _, _, _, _, shell = run("getent", "passwd", show("User") or "trestle").strip().split(":")
        self.assertEqual(name, "trestle")
        self.assertIn("nologin", shell)


class Socket(ServiceTest):
    def setUp(self):
        super().setUp()
        run("systemctl", "stop", SERVICE)

    def test_enabled(self):
        """After installation the socket listens and is enabled at boot, and no daemon runs yet"""
        self.assertEqual(run("systemctl", "is-enabled", UNIT_SOCKET).strip(), "enabled")
        self.assertTrue(is_active(UNIT_SOCKET))
        self.assertTrue(stat.S_ISSOCK(os.stat(SOCKET).st_mode))
        self.assertEqual(main_process(), 0)

    def test_activation(self):
        """The first message starts the daemon, and is answered"""
        said = subprocess.run(
            ["socat", "-t", f"{LIMIT}", "-", f"UNIX-CONNECT:{SOCKET}"],
            input=b'{"task":"Echo","options":{"first":true},"callbackId":1}\n', capture_output=True)
        self.assertEqual(said.stdout, b'{"callbackId":1,"result":{"first":true}}\n', said.stderr)
        self.assertTrue(is_active())

    def test_waiting(self):
        """Clients that connect before the daemon is ready wait, and none is refused"""
        waiting = [Bridge() for _ in range(20)]
        for index, bridge in enumerate(waiting):
            self.assertEqual(bridge.call("Echo", {"index": index})["result"], {"index": index})
            bridge.__exit__()

    def test_command_line(self):
        """The command line finds the socket without an option"""
        self.assertEqual(run("trestle", "call", "Echo", "a=1").strip(), '{"a":1}')


class Deployed(ServiceTest):
    """Plugins that an operator installs in addition to those of the package"""

    LOCAL = "/usr/local/lib/trestle/local-plugins"

    def uninstall(self, name):
        subprocess.run(["trestle", "plugin", "uninstall", name], capture_output=True)

    def test_python(self):
        """A Python plugin is installed with one command, finds trestle_bridge, and runs again after a restart"""
        folder = "/root/greet"
        run("rm", "-rf", folder)
        run("trestle", "plugin", "new", "greet", "--language", "python", "--directory", folder)
        self.addCleanup(self.uninstall, "greet")
        run("trestle", "plugin", "install", f"{folder}/greet.plugin.toml")
        self.assertEqual(call("greet", {"who": "World"}), {"greeting": "Hello, World"})
        for path in (self.LOCAL, f"{self.LOCAL}/greet", f"{self.LOCAL}/greet/greet_plugin.py"):
            status = os.stat(path)
            self.assertEqual((status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)), (0, 0, 0o755), path)
        run("systemctl", "restart", SERVICE)
        self.assertEqual(call("greet", {"who": "Ada"}), {"greeting": "Hello, Ada"})
        self.assertEqual(call("Echo", 1), 1)
        run("trestle", "plugin", "uninstall", "greet")
        run("systemctl", "restart", SERVICE)
        with Bridge() as bridge:
            self.assertEqual(bridge.call("greet")["error"]["code"], "task.not_found")
        self.assertEqual(os.listdir(self.LOCAL), [])

    def test_library(self):
        """A library runs in a process of its own as the daemon's user, and is replaced without a restart"""
        self.addCleanup(self.uninstall, "counter")
        for _ in range(2):
            run("trestle", "plugin", "install", "/root/Service/libCounterPlugin.so")
        plugin = next(plugin for plugin in call("bridge.plugins")["plugins"] if plugin["name"] == "counter")
        self.assertEqual((plugin["isolation"], plugin["state"]), ("process", "running"))
        self.assertEqual(plugin["path"], f"{self.LOCAL}/Counter/libCounterPlugin.so")
        self.assertEqual(os.stat(f"/proc/{plugin['pid']}").st_uid, os.stat(f"/proc/{main_process()}").st_uid)

    def test_writable(self):
        """A plugin that others may write is refused with a remedy, and loaded by its name after it"""
        self.addCleanup(self.uninstall, "counter")
        run("trestle", "plugin", "install", "/root/Service/libCounterPlugin.so")
        os.chmod(f"{self.LOCAL}/Counter", 0o777)
        run("systemctl", "restart", SERVICE)
        plugin = next(plugin for plugin in call("bridge.plugins")["plugins"] if plugin["name"] == "counter")
        self.assertEqual(plugin["state"], "refused")
        self.assertIn(f"chmod o-w {self.LOCAL}/Counter", plugin["error"])
        os.chmod(f"{self.LOCAL}/Counter", 0o755)
        run("trestle", "plugin", "reload", "counter")
        states = {plugin["state"] for plugin in call("bridge.plugins")["plugins"]}
        self.assertEqual(states, {"running"})

    def test_javascript(self):
        """The JavaScript client is installed, and the Python package can be imported"""
        self.assertTrue(os.path.exists("/usr/share/trestle/javascript/dist/trestle-bridge.js"))
        run("env", "PYTHONPATH=/usr/share/trestle/python", "python3", "-B", "-c", "import trestle_bridge")

    def test_memory(self):
        """The daemon and plugin processes stay within the memory that docs/operations.md specifies"""
        self.addCleanup(self.uninstall, "counter")
        self.addCleanup(self.uninstall, "greet")
        run("trestle", "plugin", "install", "/root/Service/libCounterPlugin.so")
        run("trestle", "plugin", "new", "greet", "--language", "python", "--directory", "/root/memory")
        run("trestle", "plugin", "install", "/root/memory/greet.plugin.toml")
        self.change_configuration('[plugins.persistence]\nisolation = "process"\n')
        run("systemctl", "restart", SERVICE)
        call("greet", {"who": "World"})
        pids = {plugin["name"]: plugin.get("pid") for plugin in call("bridge.plugins")["plugins"]}
        most = {"counter": 40, "persistence": 56, "cookies": 56, "fetch": 72, "greet": 40}
        for name, process in {"daemon": main_process(), **{name: pids[name] for name in most}}.items():
            figures = memory(process)
            print(f"\n  {name}: {figures}", end=" ", flush=True)
            self.assertLess(figures["Rss"], most.get(name, 64) * 1024, name)
        print("unit:", show("MemoryCurrent"), end=" … ", flush=True)


def memory(process):
    """Returns memory in KiB: resident, proportional (shared parts divided by their users), and anonymous."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        fields = dict(line.split(":") for line in file if line.rstrip().endswith("kB"))
    kib = {name: int(value.split()[0]) for name, value in fields.items()}
    return {"Rss": kib["Rss"], "Pss": kib["Pss"], "Anonymous": kib["Anonymous"]}


class UsersOwn(unittest.TestCase):
    def test_user(self):
        """A user's own daemon starts with the first message on the user's socket, and keeps records at home"""
        run("useradd", "--create-home", "ada")
        run("loginctl", "enable-linger", "ada")
        user = run("id", "--user", "ada").strip()
        runtime = f"/run/user/{user}"
        # Waits for the manager, whose start lingering has triggered.
        run("systemctl", "start", f"user@{user}.service")

        def as_ada(*command):
            return run("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "env", "HOME=/home/ada",
                       f"XDG_RUNTIME_DIR={runtime}", *command)

        as_ada("systemctl", "--user", "enable", "--now", UNIT_SOCKET)
        created = as_ada("trestle", "call", "persistence.create", "{\"table\":\"notes\",\"record\":{\"mine\":true}}")
        self.assertIn('"key"', created)
        self.assertEqual(os.stat(f"{runtime}/trestle/bridge.sock").st_mode & 0o777, 0o600)
        self.assertEqual(os.stat("/home/ada/.local/state/trestle/records.sqlite").st_uid, int(user))
        process = as_ada("systemctl", "--user", "show", "--value", "--property=MainPID", SERVICE).strip()
        self.assertIn(f"Uid:\t{user}\t", open(f"/proc/{process}/status").read())
        as_ada("systemctl", "--user", "restart", SERVICE)
        self.assertIn('{"mine":true}', as_ada("trestle", "call", "persistence.query", "table=notes"))
        self.check_presenter(as_ada)
        # The machine's socket is closed to users outside its group, and the error states that.
        with self.assertRaisesRegex(AssertionError, "may not be opened by this user"):
            as_ada("trestle", "call", "--socket", SOCKET, "Echo")
        as_ada("systemctl", "--user", "disable", "--now", UNIT_SOCKET, SERVICE)
        self.assertFalse(os.path.exists(f"{runtime}/trestle/bridge.sock"))

    def check_presenter(self, as_user):
        """The desktop presenter reaches daemon and session bus from its unit, and is restarted when it fails"""
        def show(name):
            return as_user("systemctl", "--user", "show", "--value", f"--property={name}", PRESENTER).strip()

        def provides():
            return '"ui.alert"' in as_user("trestle", "tasks")

        as_user("systemctl", "--user", "start", PRESENTER)
        # Then it waits for alerts.
        wait_until("the presenter provides ui.alert", provides)
        # This bus has no notification service, so the log presenter answers.
        self.assertIn('"presenter":"log"', as_user("trestle", "call", "Alert", "content=here"))
        process = show("MainPID")
        os.kill(int(process), signal.SIGKILL)
        wait_until("the presenter was started again", lambda: show("MainPID") not in ("0", process) and provides())
        as_user("systemctl", "--user", "stop", PRESENTER)
        self.assertEqual((show("ActiveState"), show("Result")), ("inactive", "success"))
        self.assertFalse(provides())


class Status(ServiceTest):
    def test_status(self):
        """systemctl status shows the daemon's state"""
        text = show("StatusText")
        self.assertNotEqual(text, "", "it comes with the news that the daemon is ready")
        self.assertIn(f'Status: "{text}"', run("systemctl", "status", "--no-pager", "--lines=0", SERVICE))

    def test_notify(self):
        """The unit is active only once the daemon is ready"""
        self.assertTrue(show("Type").startswith("notify"), show("Type"))
        self.assertEqual(call("Echo", {"ready": True}), {"ready": True})

    def test_journal(self):
        """Each line of the log has its priority in the journal"""
        self.change_configuration('log_level = "info"')
        run("systemctl", "restart", SERVICE)
        call("bridge.ping")
        lines = run(
            "journalctl", "--quiet", "--no-pager", f"--since=@{self.started:.6f}", f"_PID={main_process()}",
            "--output=json", "--output-fields=PRIORITY,MESSAGE").splitlines()
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertNotRegex(line, r'"MESSAGE":"<\d>')
        self.assertTrue(any('"PRIORITY":"6"' in line for line in lines), lines)

    def test_nothing_else(self):
        """Only the daemon's log writes to the journal, and a start causes no warnings there"""
        call("bridge.ping")
        process = f"_PID={main_process()}"
        read = ["journalctl", "--quiet", "--no-pager", f"--since=@{self.started:.6f}", "--output=cat"]
        others = run(*read, process, "_TRANSPORT=stdout", "_TRANSPORT=syslog").splitlines()
        self.assertEqual(others, [])
        self.assertEqual(run(*read, "--priority=warning", process), "")

    def test_threads(self):
        """Worker threads have the batch policy, so that they do not preempt others; the loop thread does not"""
        call("persistence.create", {"table": "threads", "record": {}})
        threads = {}
        for path in glob.glob(f"/proc/{main_process()}/task/*"):
            policy = os.sched_getscheduler(int(os.path.basename(path)))
            threads.setdefault(policy, []).append(open(f"{path}/comm").read().strip())
        self.assertIn(os.SCHED_BATCH, threads, threads)
        self.assertNotIn("loop", threads[os.SCHED_BATCH])
