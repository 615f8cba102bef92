"""systemd and dpkg, used as by an operator."""

import ctypes
import glob
import os
import select
import subprocess
import threading
import time
import unittest

from bridge import LIMIT, call

SERVICE = "trestle.service"
UNIT_SOCKET = "trestle.socket"
PRESENTER = "trestle-present.service"
CONFIGURATION = "/etc/trestle/trestled.toml"
RULES = "/etc/trestle/policy.d"
STATE = "/var/lib/trestle"
DROP_IN = f"/run/systemd/system/{SERVICE}.d"


def run(*command, check=True):
    """Returns the output of a command; the error of a failure contains all its output."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def ended_well(*command):
    return subprocess.run(command, capture_output=True).returncode == 0


def show(name, unit=SERVICE):
    """Returns a property of a unit."""
    return run("systemctl", "show", "--value", "--property", name, unit).strip()


def is_active(unit=SERVICE):
    return show("ActiveState", unit) == "active"


def main_process():
    """Returns the daemon's process; 0 if there is none."""
    return int(show("MainPID"))


def package(revision):
    (path,) = glob.glob(f"/root/packages/trestle_*-{revision}_*.deb")
    return path


def install(revision):
    run("dpkg", "--install", "--force-confold", package(revision))


def journal(since, *options):
    """Returns the log of the service's units since a time in seconds of the epoch."""
    run("journalctl", "--sync")
    return run(
        "journalctl", "--no-pager", "--quiet", f"--since=@{since:.6f}", "--unit", SERVICE, "--output", "cat", *options)


def wait_until(what, condition):
    """Returns the condition's value once it is true; fails if it never is.

    The condition depends on units, or on the log: systemd writes to the journal whenever the state of a unit has
    changed, and the condition is checked with each new line of the journal.
    """
    end = time.monotonic() + LIMIT
    follow = ["journalctl", "--follow", "--no-tail", "--quiet", "--output=cat", f"--since=@{time.time():.6f}"]
    with subprocess.Popen(follow, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as journal_lines:
        try:
            while not (found := condition()):
                ready, _, _ = select.select([journal_lines.stdout], [], [], max(0, end - time.monotonic()))
                if not ready or not os.read(journal_lines.stdout.fileno(), 65_536):
                    raise AssertionError(f"still not, after {LIMIT} s or at the end of the journal: {what}")
            return found
        finally:
            journal_lines.kill()


class StoppedThread:
    """Stops one thread of a process, as a debugger does, until the process ends."""

    SEIZE, INTERRUPT, ANY_CHILD = 0x4206, 0x4207, 0x40000000  # PTRACE_SEIZE, PTRACE_INTERRUPT, __WALL

    def __init__(self, process, name):
        self.thread = next(
            int(path.split("/")[-2])
            for path in glob.glob(f"/proc/{process}/task/*/comm")
            if open(path).read().strip() == name)
        self.waiting = threading.Thread(target=self.wait_for_end)

    def __enter__(self):
        # Both from the calling thread, which the kernel treats as the debugger.
        self.trace(self.SEIZE)
        self.trace(self.INTERRUPT)
        os.waitpid(self.thread, self.ANY_CHILD)
        self.waiting.start()
        return self

    def __exit__(self, *error):
        self.waiting.join()

    def trace(self, request):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.ptrace(request, self.thread, None, None) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def wait_for_end(self):
        """Waits for the process: it disappears only once the tracer of its threads has received their end."""
        while not os.WIFSIGNALED(os.waitpid(self.thread, self.ANY_CHILD)[1]):
            pass


class ServiceTest(unittest.TestCase):
    """Each test begins with a freshly started daemon, with the configuration and units of the package."""

    def setUp(self):
        self.started = time.time()
        run("systemctl", "reset-failed", SERVICE, UNIT_SOCKET)
        run("systemctl", "start", UNIT_SOCKET)
        run("systemctl", "restart", SERVICE)
        call("bridge.ping")

    def change_unit(self, *lines):
        """Overrides settings of the service, until the test ends."""
        os.makedirs(DROP_IN, exist_ok=True)
        with open(f"{DROP_IN}/test.conf", "w") as file:
            file.write("\n".join(["[Service]", *lines, ""]))
        self.addCleanup(self.restore_unit)
        run("systemctl", "daemon-reload")
        run("systemctl", "restart", SERVICE)
        call("bridge.ping")

    def restore_unit(self):
        os.remove(f"{DROP_IN}/test.conf")
        run("systemctl", "daemon-reload")

    def change_configuration(self, text):
        """Appends to the configuration, until the test ends."""
        with open(CONFIGURATION) as file:
            was = file.read()

        def restore():
            with open(CONFIGURATION, "w") as file:
                file.write(was)

        self.addCleanup(restore)
        with open(CONFIGURATION, "w") as file:
            file.write(text + "\n" + was)

    def rule(self, text):
        """Applies rules, until the test ends."""
        path = f"{RULES}/50-test.toml"

        def remove():
            os.remove(path)
            self.reload()

        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o644)
        self.addCleanup(remove)
        self.reload()

    def reload(self):
        said = journal(self.started).count("applied: policy")
        run("systemctl", "reload", SERVICE)
        wait_until("other rules are in force", lambda: journal(self.started).count("applied: policy") > said)

    def wait_for_restart(self, process):
        """Waits until another daemon than that process runs, and returns its process."""

        def other():
            now = main_process()
            return is_active() and now not in (0, process) and now

        now = wait_until(f"systemd has started another daemon than {process}", other)
        call("bridge.ping")
        return now

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        outcome = super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print(f"--- the journal of {self.id()}\n{journal(getattr(self, 'started', 0))[-4000:]}---", flush=True)
        return outcome
