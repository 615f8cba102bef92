"""The daemon under test: started, told to stop, killed, started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Sequence

from promises import Promises

START_SECONDS = 60.0
STOP_SECONDS = 60.0
"""Bounds for a machine that does much else. A daemon that needs them has hung."""

SHIPPED = ("alert", "closeweb", "login", "persistence")
"""Plugins that in every other life run in processes of their own. Echo, which is called most, stays."""

CONFIGURATION = """\
drain_timeout = "2s"
call_timeout = "{call_timeout}"
stop_timeout = "{stop_timeout}s"
plugin_timeout = "{plugin_timeout}s"
log_level = "{log_level}"

[limits]
stalled = "{stalled}"
"""


@dataclass(eq=False)
class Life:
    """One process of the daemon's, from its start to its end."""

    number: int
    process: asyncio.subprocess.Process
    isolated: bool
    """Whether the shipped plugins run in processes of their own."""
    stopping: bool = False
    """It was told to stop, or was killed: from then on a connection may end."""
    killed: bool = False
    began: float = field(default_factory=time.monotonic)
    library_reloads: int = 0

    @property
    def pid(self) -> int:
        return self.process.pid


class Daemon:
    """The daemon in a folder of its own."""

    def __init__(self, products: Path, folder: Path, promises: Promises, under: Sequence[str] = ()) -> None:
        self.products = products
        self.under = under
        """A command that runs the daemon's, such as valgrind's."""
        self.slowness = 60.0 if under else 1.0
        """How many times as long as usual everything may take."""
        self.folder = folder
        self.promises = promises
        self.socket = str(folder / "bridge.sock")
        self.configuration = folder / "trestled.toml"
        self.log = folder / "log"
        self.settings = ""
        """Further lines of every configuration, ahead of its tables."""
        self.life: Optional[Life] = None
        self.lives = 0

    def configure(self, isolated: bool, call_timeout: str = "", log_level: str = "notice", stalled: str = "4s",
                  more: str = "") -> None:
        """Writes the configuration; it counts at the next start, or reload."""
        text = self.settings + CONFIGURATION.format(
            call_timeout=call_timeout or f"{int(20 * self.slowness)}s", log_level=log_level, stalled=stalled,
            stop_timeout=int(5 * self.slowness), plugin_timeout=int(10 * self.slowness)) + more
        for name in SHIPPED if isolated else ():
            text += f'[plugins.{name}]\nisolation = "process"\n'
        written = self.configuration.with_suffix(".new")
        written.write_text(text)
        written.replace(self.configuration)

    async def start(self, isolated: bool) -> Life:
        """Starts it, and waits until somebody can connect."""
        self.configure(isolated)
        workers = Path(__file__).resolve().parent / "workers"
        # The worker is started by this Python, whichever that is, and finds the package for workers.
        python = str(Path(sys.executable).resolve().parent)
        environment = {**os.environ, "PATH": python + ":" + os.environ.get("PATH", "")}
        with self.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *self.under, str(self.products / "trestled"), "--config", str(self.configuration),
                "--socket", self.socket, "--state-dir", str(self.folder / "state"),
                "--plugin-dir", str(self.products), "--plugin-dir", str(workers),
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        self.lives += 1
        self.life = Life(self.lives, process, isolated)
        end = time.monotonic() + START_SECONDS * self.slowness
        while not await self._listens():
            if process.returncode is not None or time.monotonic() > end:
                raise RuntimeError("the daemon did not start:\n" + self.log_tail())
            await asyncio.sleep(0.02)
        return self.life

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_unix_connection(self.socket)
        except OSError:
            return False
        writer.close()
        return True

    async def stop(self) -> None:
        """SIGTERM: it ends in order, with status 0."""
        life = self._life()
        life.stopping = True
        life.process.send_signal(signal.SIGTERM)
        self.promises.count["SIGTERM"] += 1
        seconds = STOP_SECONDS * self.slowness
        try:
            status = await asyncio.wait_for(life.process.wait(), seconds)
        except asyncio.TimeoutError:
            self.promises.broke("the daemon", f"it does not stop {seconds} s after SIGTERM", self.log_lines())
            return await self.kill()
        if status != 0:
            self.promises.broke("the daemon", f"it ended with status {status} after SIGTERM", self.log_lines())

    async def kill(self) -> None:
        """SIGKILL."""
        life = self._life()
        life.killed = life.stopping = True
        life.process.kill()
        self.promises.count["SIGKILL"] += 1
        await life.process.wait()

    def check_alive(self) -> None:
        """It may not end by itself."""
        life = self._life()
        if life.process.returncode is not None and not life.stopping:
            life.stopping = life.killed = True
            self.promises.broke("the daemon", f"it ended by itself with {life.process.returncode}", self.log_lines())

    def _life(self) -> Life:
        assert self.life is not None, "not started"
        return self.life

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self.log_lines(lines))

    def log_lines(self, lines: int = 20) -> list[str]:
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 65_536))
            return [line.decode(errors="replace")[:500] for line in log.read().splitlines()[-lines:]]
