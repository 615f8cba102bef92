"""The daemon under test: started, asked to stop, killed, restarted."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Sequence

from promises import LIMIT_SECONDS, Promises

SHIPPED = ("alert", "closeweb", "login", "persistence")
"""The plugins that run in processes of their own in every other life. Echo, which is called most, does not."""

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
    """One process of the daemon, from its start to its end."""

    number: int
    process: asyncio.subprocess.Process
    isolated: bool
    """Whether the shipped plugins run in processes of their own."""
    stopping: bool = False
    """Whether it was asked to stop, or was killed: from then on connections may end."""
    killed: bool = False
    began: float = field(default_factory=time.monotonic)
    library_reloads: int = 0

    @property
    def pid(self) -> int:
        return self.process.pid


class Readiness(asyncio.DatagramProtocol):
    """Receives the daemon's notifications to a service manager, such as that it is ready."""

    def __init__(self) -> None:
        self.ready = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, address: object) -> None:
        if b"READY=1" in data.split(b"\n") and not self.ready.done():
            self.ready.set_result(None)


class Daemon:
    """The daemon in a folder of its own."""

    def __init__(self, products: Path, folder: Path, promises: Promises, under: Sequence[str] = ()) -> None:
        self.products = products
        self.under = under
        """A command that runs the daemon, such as valgrind."""
        self.slowness = 60.0 if under else 1.0
        """The factor by which all time limits are longer than usual."""
        self.folder = folder
        self.promises = promises
        self.socket = str(folder / "bridge.sock")
        self.notify = str(folder / "notify.sock")
        self.configuration = folder / "trestled.toml"
        self.log = folder / "log"
        self.settings = ""
        """Further lines of every configuration, before its tables."""
        self.life: Optional[Life] = None
        self.lives = 0
        self._serves = asyncio.Event()
        """Set while a daemon runs that has not been asked to stop."""
        self._watch: Optional[asyncio.Task[None]] = None
        """The task that waits for the end of this life."""

    def configure(self, isolated: bool, call_timeout: str = "", log_level: str = "notice", stalled: str = "4s",
                  more: str = "") -> None:
        """Writes the configuration; it takes effect at the next start, or reload."""
        text = self.settings + CONFIGURATION.format(
            call_timeout=call_timeout or f"{int(20 * self.slowness)}s", log_level=log_level, stalled=stalled,
            stop_timeout=int(5 * self.slowness), plugin_timeout=int(10 * self.slowness)) + more
        for name in SHIPPED if isolated else ():
            text += f'[plugins.{name}]\nisolation = "process"\n'
        written = self.configuration.with_suffix(".new")
        written.write_text(text)
        written.replace(self.configuration)

    async def start(self, isolated: bool) -> Life:
        """Starts the daemon, and waits until it reports that it is ready."""
        self.configure(isolated)
        notifications, readiness = await self._listen()
        workers = Path(__file__).resolve().parent / "workers"
        # The worker is started with the Python of this process, and finds the package for workers.
        python = str(Path(sys.executable).resolve().parent)
        environment = {**os.environ, "PATH": python + ":" + os.environ.get("PATH", ""), "NOTIFY_SOCKET": self.notify}
        with self.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *self.under, str(self.products / "trestled"), "--config", str(self.configuration),
                "--socket", self.socket, "--state-dir", str(self.folder / "state"),
                "--plugin-dir", str(self.products), "--plugin-dir", str(workers),
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        self.lives += 1
        self.life = Life(self.lives, process, isolated)
        self._watch = asyncio.ensure_future(self._end(self.life, notifications))
        await asyncio.wait((readiness.ready, self._watch), timeout=LIMIT_SECONDS * self.slowness,
                           return_when=asyncio.FIRST_COMPLETED)
        if not readiness.ready.done():
            raise RuntimeError("the daemon did not start:\n" + self.log_tail())
        self._serves.set()
        return self.life

    async def _listen(self) -> tuple[asyncio.DatagramTransport, Readiness]:
        """Creates the socket to which the next process of the daemon reports its state."""
        Path(self.notify).unlink(missing_ok=True)
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.setblocking(False)
        notify.bind(self.notify)
        return await asyncio.get_running_loop().create_datagram_endpoint(Readiness, sock=notify)

    async def another(self) -> None:
        """Waits for a running daemon after a connection was refused."""
        if self._serves.is_set():
            await self._life().process.wait()  # It is ending by itself.
        await self._serves.wait()

    async def stop(self) -> None:
        """Sends SIGTERM: the daemon must end in order, with status 0."""
        life = self._life()
        life.stopping = True
        self._serves.clear()
        life.process.send_signal(signal.SIGTERM)
        self.promises.count["SIGTERM"] += 1
        seconds = LIMIT_SECONDS * self.slowness
        await self._ended(seconds)
        status = life.process.returncode
        if status is None:
            self.promises.broke("the daemon", f"it does not stop {seconds} s after SIGTERM", self.log_lines())
            return await self.kill()
        if status != 0:
            self.promises.broke("the daemon", f"it ended with status {status} after SIGTERM", self.log_lines())

    async def kill(self) -> None:
        """Sends SIGKILL."""
        life = self._life()
        life.killed = life.stopping = True
        self._serves.clear()
        life.process.kill()
        self.promises.count["SIGKILL"] += 1
        await self._ended()

    async def _ended(self, seconds: Optional[float] = None) -> None:
        """Waits for the end of the life, up to a time limit."""
        assert self._watch is not None, "not started"
        await asyncio.wait((self._watch,), timeout=seconds)

    async def _end(self, life: Life, notifications: asyncio.DatagramTransport) -> None:
        """Waits for the end of a life, which must not end by itself."""
        status = await life.process.wait()
        notifications.close()
        if not life.stopping:
            life.stopping = life.killed = True
            self._serves.clear()
            self.promises.broke("the daemon", f"it ended by itself with {status}", self.log_lines())

    def _life(self) -> Life:
        assert self.life is not None, "not started"
        return self.life

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self.log_lines(lines))

    def log_lines(self, lines: int = 20) -> list[str]:
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 65_536))
            return [line.decode(errors="replace")[:500] for line in log.read().splitlines()[-lines:]]
