"""The daemon as it was built, in a folder of its own, and what may be asked of its process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Service"))

from bridge import LIMIT, Bridge  # noqa: E402

BUILT = Path(os.environ.get("TRESTLE_BIN", ROOT / ".build/release")).resolve()


def wait_until(what: str, condition: Callable[[], Any]) -> Any:
    """Returns what the condition returns once that is true; fails when it never is.

    Polls: neither the kernel nor strace reports what it does to a process.
    """
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"after {LIMIT} s still not: {what}")
        time.sleep(0.05)
    return found


class Home:
    """Where a daemon lives. Outlives it: one may be started on it again."""

    def __init__(self, state: Path | None = None, configuration: str = "") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trestle-faults-"))
        self.socket = str(self.folder / "s")
        self.state = state or self.folder / "state"
        self.log_file = self.folder / "log"
        # Also so that the machine's own configuration is not read.
        (self.folder / "trestled.toml").write_text(configuration)

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    @property
    def log(self) -> str:
        return self.log_file.read_text() if self.log_file.exists() else ""

    @property
    def records(self) -> Path:
        return self.state / "records.sqlite"


class Daemon:
    """A process of the daemon."""

    def __init__(self, home: Home, arguments: tuple[str, ...] = (), **environment: str) -> None:
        """Starts it, and does not wait for anything."""
        self.home = home
        paths = ["--socket", home.socket, "--state-dir", str(home.state)]
        with home.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [BUILT / "trestled", *paths, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={"PATH": os.environ["PATH"], "CONFIGURATION_DIRECTORY": str(home.folder), **environment})

    @classmethod
    def ready(cls, home: Home, arguments: tuple[str, ...] = (), **environment: str) -> Daemon:
        """Starts one, and waits until it answers."""
        daemon = cls(home, arguments, **environment)
        try:
            wait_until("the daemon answers", daemon.answers)
        except AssertionError:
            daemon.kill()
            raise
        return daemon

    @property
    def pid(self) -> int:
        return self.process.pid

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.home.log}")
        try:
            with self.connect() as bridge:
                return "result" in bridge.call("bridge.ping")
        except OSError:
            return False

    def connect(self) -> Bridge:
        return Bridge(self.home.socket)

    def result(self, task: str, options: Any = None) -> Any:
        """The result of a call on a connection of its own."""
        message = self.callback(task, options)
        assert "result" in message, message
        return message["result"]

    def callback(self, task: str, options: Any = None) -> Any:
        with self.connect() as bridge:
            return bridge.call(task, options)

    def kill(self) -> None:
        """As the kernel does where memory is short: without a chance to do anything."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Asks it to end. Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def wait(self) -> int:
        """The exit status of one that ends by itself."""
        return self.process.wait(60)
