"""A kiosk: trestle-web under cage, by its system unit, on a virtual screen.

kiosk.py [-k PATTERN]…: runs the tests whose names match. Both packages are installed before the first.
"""

import glob
import http.server
import json
import os
import pwd
import shutil
import signal
import subprocess
import threading
import unittest

import machine
from bridge import Bridge
from machine import ended_well, is_active, run, show, wait_until

UNIT = "trestle-kiosk@lobby.service"
PROFILE = "/etc/trestle/web/lobby.toml"
DROP_IN = f"/run/systemd/system/{UNIT}.d"
PORT = 8000
ORIGIN = f"http://127.0.0.1:{PORT}"
PAGE = b"""<!doctype html><title>lobby</title><p>lobby<script>
WebBridge.call("Echo", {}, (result, error) => { document.title = error?.code ?? "answered"; });
</script>"""

# A container has no screen and no console: cage draws into memory. Web processes have no sandbox if they may not mount
# /proc, as in most containers.
HEADLESS = """[Service]
Environment=WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1
Environment=WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1
TTYPath=
TTYReset=no
TTYVHangup=no
StandardInput=null
UtmpIdentifier=
"""

# The rules of docs/web.md.
RULES = f"""
[[rule]]
allow = ["register", "publish"]
names = ["web.*", "lifecycle.*"]
uid = "kiosk"

[[rule]]
allow = "call"
names = "web.*"
uid = "kiosk"

[[rule]]
allow = "origin"
names = "{ORIGIN}"
uid = "kiosk"

[[rule]]
allow = "call"
names = "Echo"
origin = "{ORIGIN}"
"""

PROFILE_TEXT = f"""
start = "{ORIGIN}/"
allow = ["{ORIGIN}"]
bridge = ["{ORIGIN}"]
[tasks]
events = ["web.*", "lifecycle.*"]
"""

# The container has no /sys/power: logind requires a writable file there.
POWER = "/sys/power"
LOGIND = "systemd-logind.service"
UNPROTECTED = """[Service]
ProtectSystem=no
ProtectHome=no
ProtectClock=no
ProtectControlGroups=no
ProtectKernelLogs=no
ProtectKernelModules=no
PrivateTmp=no
ReadWritePaths=
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def processes(name):
    """Returns the processes of a program; names are cut to 15 letters."""
    found = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as file:
                if file.read().strip() == name[:15]:
                    found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def call(task, **options):
    """Returns the result of a task of the kiosk, called by the kiosk's user; None if it fails."""
    words = [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run(
        ["runuser", "-u", "kiosk", "--", "trestle", "--json", "call", task, *words], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def wait_for_pages(condition):
    """Waits until a condition about pages holds. It is checked with each event of the container."""
    with Bridge() as bridge:
        bridge.call("bridge.subscribe", {"events": ["web.*"]})
        while not condition():
            bridge.receive()


def is_shown():
    """Whether the page is loaded, and its call was answered."""
    views = call("web.views") or {}
    return [view["title"] for view in views.get("views", [])] == ["answered"]


def is_prewarmed():
    """Whether the process of the prewarmed view is running."""
    workers = (call("web.status") or {}).get("launch", [])
    return any(worker["name"] == "pool.prewarm" and worker["state"] == "done" for worker in workers)


class Kiosk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run("adduser", "--disabled-password", "--gecos", "", "kiosk")
        run("adduser", "kiosk", "trestle")
        write(f"{DROP_IN}/headless.conf", HEADLESS)
        write("/etc/trestle/policy.d/kiosk.toml", RULES)

    def setUp(self):
        write(PROFILE, PROFILE_TEXT)
        run("systemctl", "daemon-reload")
        run("systemctl", "reset-failed", "trestle.service", "trestle.socket")
        run("systemctl", "restart", "trestle.service")
        run("systemctl", "restart", UNIT)
        self.addCleanup(run, "systemctl", "stop", UNIT)

    def wait_until_shown(self):
        wait_for_pages(is_shown)

    def test_shown(self):
        """The unit shows the profile's page as the user kiosk, in a logind session, with the daemon's tasks"""
        self.wait_until_shown()
        kiosk = pwd.getpwnam("kiosk").pw_uid
        for name in ["cage", "trestle-web", "WebKitWebProcess"]:
            owners = {os.stat(f"/proc/{process}").st_uid for process in processes(name)}
            self.assertEqual(owners, {kiosk}, name)
        self.assertTrue(os.path.isdir(f"/run/user/{kiosk}"))

    def test_picture(self):
        """The kiosk returns a picture of the page on the whole screen"""
        self.wait_until_shown()
        done = subprocess.run(
            ["runuser", "-u", "kiosk", "--", "trestle", "call", "web.screenshot", "--stream", "image"],
            capture_output=True, check=True)
        self.assertTrue(done.stdout.startswith(b"\x89PNG"))

    def test_crash(self):
        """A killed web process is replaced, and the page is shown again"""
        self.wait_until_shown()
        # WebKitGTK fails if a web process is killed in its first moments, so this waits until none is starting.
        wait_until("the view that waits has its process", is_prewarmed)
        before = set(processes("WebKitWebProcess"))
        for process in before:
            os.kill(process, signal.SIGKILL)
        wait_for_pages(lambda: set(processes("WebKitWebProcess")) - before and is_shown())
        self.assertEqual(show("NRestarts", UNIT), "0")

    def session(self):
        """Returns the kiosk's logind session."""
        lines = [line.split() for line in run("loginctl", "list-sessions", "--no-legend").splitlines()]
        return next(words[0] for words in lines if "kiosk" in words)

    def inhibitors(self):
        return [line for line in run("systemd-inhibit", "--list", "--no-legend").splitlines() if "trestle-web" in line]

    def test_lock(self):
        """logind's lock of the kiosk's session publishes an event, and so does the unlock"""
        self.wait_until_shown()
        with Bridge() as bridge:
            bridge.call("bridge.subscribe", {"events": ["lifecycle.*"]})
            for verb, event in [("lock-session", "locked"), ("unlock-session", "unlocked")]:
                run("loginctl", verb, self.session())
                self.assertEqual(bridge.receive()["event"], f"lifecycle.{event}")

    def make_sleepy(self):
        """Simulates a machine that can sleep, as logind sees it: its writes reach no kernel."""
        drop_in = f"/run/systemd/system/{LOGIND}.d"
        write(f"{drop_in}/unprotected.conf", UNPROTECTED)
        run("mount", "-o", "remount,rw", "/sys")
        write(f"{POWER}/state", "mem\n")
        run("systemctl", "daemon-reload")
        run("systemctl", "restart", LOGIND)

        def restore():
            shutil.rmtree(drop_in)
            shutil.rmtree(POWER)
            run("mount", "-o", "remount,ro", "/sys")
            run("systemctl", "daemon-reload")
            run("systemctl", "restart", LOGIND)

        self.addCleanup(restore)

    def test_sleep(self):
        """logind's sleep waits for the kiosk, which holds an inhibitor before and after it"""
        self.make_sleepy()
        self.wait_until_shown()
        wait_until("logind has the inhibitor", self.inhibitors)
        self.assertRegex(self.inhibitors()[0], r"\bsleep\b.*\bdelay\b")
        with Bridge() as bridge:
            bridge.call("bridge.subscribe", {"events": ["lifecycle.*"]})
            run("systemctl", "suspend")
            self.assertEqual(bridge.receive()["event"], "lifecycle.suspending")
            self.assertEqual(bridge.receive()["event"], "lifecycle.resumed")
        wait_until("logind has the next inhibitor", self.inhibitors)

    def test_killed(self):
        """The unit is restarted if trestle-web is killed"""
        self.wait_until_shown()
        for process in processes("trestle-web"):
            os.kill(process, signal.SIGKILL)
        wait_until("the unit was started again", lambda: show("NRestarts", UNIT) == "1" and is_active(UNIT))
        self.wait_until_shown()

    def test_profile(self):
        """With an invalid profile the unit does not start, and is not restarted"""
        write(PROFILE, "windo = 1\n")
        run("systemctl", "stop", UNIT)
        run("systemctl", "start", UNIT, check=False)
        self.assertEqual((show("ActiveState", UNIT), show("NRestarts", UNIT)), ("inactive", "0"))

    def test_stopped(self):
        """After the unit was stopped no process remains"""
        self.wait_until_shown()
        run("systemctl", "stop", UNIT)
        self.assertEqual(show("Result", UNIT), "success")
        # These are in a logind session: systemd does not wait for them.
        for name in ["cage", "trestle-web", "WebKitWebProcess", "WebKitNetworkProcess"]:
            wait_until(f"no process {name} was left", lambda name=name: processes(name) == [])

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        outcome = super().run(result)
        if len(result.failures) + len(result.errors) > before:
            said = run("journalctl", "--no-pager", "--quiet", "--lines=60", "--output=short-monotonic", check=False)
            print(f"--- the journal of {self.id()}\n{said}---", flush=True)
        return outcome


def install():
    machine.install(1)
    (package,) = glob.glob("/root/packages/trestle-web_*.deb")
    run("dpkg", "--install", package)
    assert ended_well("systemd-analyze", "verify", "/lib/systemd/system/trestle-kiosk@.service"), "the unit is wrong"


if __name__ == "__main__":
    install()
    unittest.main(verbosity=2)
