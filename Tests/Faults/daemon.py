"""The built daemon in a folder of its own, and access to its process."""

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
from manager import Manager  # noqa: E402

BUILT = Path(os.environ.get("TRESTLE_BIN", ROOT / ".build/release")).resolve()
# Examples/Files, which scripts/test-faults builds.
FILES_PLUGIN = ROOT / ".build/examples/debug/libFilesPlugin.so"


class Home:
    """The folder and socket of a daemon. They outlive it: another one may be started on them."""

    def __init__(self, state: Path | None = None, configuration: str = "") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trestle-faults-"))
        self.socket = str(self.folder / "s")
        self.state = state or self.folder / "state"
        self.log_file = self.folder / "log"
        # A command that runs the daemon in another environment, such as in namespaces.
        self.runner: list[str] = []
        self.manager = Manager(str(self.folder / "notify"))
        # Written always, so that the machine's own configuration is not read.
        (self.folder / "trestled.toml").write_text(configuration)

    def remove(self) -> None:
        self.manager.close()
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
        """Starts it without waiting. With `FDSTORE` in the environment it hands its sessions over to the next one."""
        self.home = home
        home.manager.forget()
        kept = home.manager.stored
        command = [*home.runner, str(BUILT / "trestled"), "--socket", home.socket, "--state-dir", str(home.state), *arguments]
        if kept:
            names = ":".join(stored.name for stored in kept)
            # The descriptors need the numbers from 3 on, in the process that becomes the daemon. (A plain sh may
            # support only numbers of one digit.)
            moved = " ".join(f"{number}<&{stored.descriptor}" for number, stored in enumerate(kept, 3))
            exported = f"export LISTEN_PID=$$ LISTEN_FDS={len(kept)} LISTEN_FDNAMES={names}"
            command = ["bash", "-c", f'{exported}; exec "$@" {moved}', "bash", *command]
        with home.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[stored.descriptor for stored in kept],
                env={"PATH": os.environ["PATH"], "CONFIGURATION_DIRECTORY": str(home.folder),
                     "NOTIFY_SOCKET": home.manager.path, **environment})

    @classmethod
    def ready(cls, home: Home, arguments: tuple[str, ...] = (), **environment: str) -> Daemon:
        """Starts a daemon, and waits until it is ready."""
        daemon = cls(home, arguments, **environment)
        if not daemon.serves():
            raise AssertionError(f"the daemon ended with {daemon.process.returncode}:\n{home.log}")
        return daemon

    @property
    def pid(self) -> int:
        return self.process.pid

    def serves(self) -> bool:
        """Waits until it is ready. False if it has ended."""
        return self.home.manager.is_ready(self.process)

    def connect(self) -> Bridge:
        return Bridge(self.home.socket)

    def result(self, task: str, options: Any = None) -> Any:
        """Returns the result of a call on a connection of its own."""
        message = self.callback(task, options)
        assert "result" in message, message
        return message["result"]

    def callback(self, task: str, options: Any = None) -> Any:
        with self.connect() as bridge:
            return bridge.call(task, options)

    def ask_until(self, what: str, bridge: Bridge, condition: Callable[[dict[str, Any]], bool]) -> None:
        """Requests the daemon's status until the condition holds: each answer is another turn of its loop.

        There is no event for the end of a stream or of a session.
        """
        end = time.monotonic() + LIMIT
        while not condition(status := bridge.call("bridge.status")["result"]):
            assert time.monotonic() < end, f"after {LIMIT} s still not: {what}: {status}"

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def kill(self) -> None:
        """Kills the daemon, as the kernel does when memory is short."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Requests its end; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Waits until it has ended by itself; returns its exit status."""
        return self.home.manager.has_ended(self.process)
