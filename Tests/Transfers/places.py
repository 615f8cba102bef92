"""A task that copies a stream, in each place where a task can be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PACKAGE = ROOT / "Clients/Python"
sys.path.insert(0, str(PACKAGE))

import trestle_bridge  # noqa: E402

BUILT = Path(os.environ.get("TRESTLE_BIN", ROOT / ".build/release")).resolve()

MANIFEST = """
command = ["./copying.py"]
version = "1.0.0"

[[tasks]]
name = "python.copy"
summary = "Answers with a copy of a stream."
timeout = 86400000
options = { type = "object", properties = { photo = { type = "string", format = "trestle-stream" } } }
result = { type = "object", properties = { photo = { type = "string", format = "trestle-stream" } } }
"""


class Daemon:
    """A daemon with plugins of its own."""

    def __init__(self, folder: Path, isolation: str) -> None:
        self.folder = folder
        self.socket = str(folder / "s")
        plugins = folder / "plugins"
        plugins.mkdir(parents=True)
        shutil.copy(BUILT / "libFixture.so", plugins)
        (plugins / "python.plugin.toml").write_text(MANIFEST)
        shutil.copy(FOLDER / "copying.py", plugins)
        shutil.copytree(PACKAGE / "trestle_bridge", plugins / "trestle_bridge")
        configuration = folder / "trestled.toml"
        configuration.write_text(f'[plugins.fixture]\nisolation = "{isolation}"\n')
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [BUILT / "trestled", "--config", configuration, "--socket", self.socket,
                 "--state-dir", folder / "state", "--plugin-dir", plugins], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def status(self) -> dict[str, Any]:
        with trestle_bridge.connect(self.socket, wait_for_daemon=60) as bridge:
            return dict(bridge.call("bridge.status"))

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self) -> int:
        """The largest that it ever had."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@dataclass(frozen=True)
class Place:
    """Where a task is."""

    name: str
    task: str
    daemon: Daemon


class Places:
    """All of them."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.list: list[Place] = []

    def __enter__(self) -> Places:
        with self._stack:
            self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="trestle-transfers-")))
            inside, outside = self._daemon("none"), self._daemon("process")
            self._provide(inside)
            self.list = [
                Place("a plugin in the daemon", "fixture.copy", inside),
                Place("a plugin in a process", "fixture.copy", outside),
                Place("a plugin in Python", "python.copy", inside),
                Place("a client in Python", "client.copy", inside),
            ]
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def _daemon(self, isolation: str) -> Daemon:
        daemon = Daemon(self.folder / isolation, isolation)
        self._stack.callback(daemon.stop)
        daemon.status()
        return daemon

    def _provide(self, daemon: Daemon) -> None:
        """Starts a client that provides its task, and waits until it does."""
        provider = subprocess.Popen([sys.executable, FOLDER / "provider.py", daemon.socket], stdout=subprocess.PIPE)
        self._stack.callback(provider.wait)
        self._stack.callback(provider.terminate)
        assert provider.stdout is not None
        if not provider.stdout.readline():
            raise RuntimeError("the client that provides the task has ended")

    def streams_left(self) -> int:
        """How many streams the daemons have."""
        return sum(int(place.daemon.status()["streams"]) for place in self.list[:2])
