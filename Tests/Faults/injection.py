"""System calls of a running process that fail, or take long, for as long as a block lasts."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
from pathlib import Path

from daemon import wait_until  # also makes the path known

SYNC = "fsync,fdatasync"
WRITE = "pwrite64"


class Injected:
    """strace is attached to all threads of the process, and does to the calls what `how` says (`error=EIO`)."""

    def __init__(self, process: int, calls: str, how: str, also: str = "") -> None:
        """Calls in `also` are written down, and left alone."""
        self.process = process
        self.calls = calls
        self.trace_file = Path(tempfile.mkstemp(prefix="trestle-faults-trace-")[1])
        traced = f"trace={calls},{also}" if also else f"trace={calls}"
        self.command = [
            "strace", "-f", "-qq", "-s", "300", "-o", str(self.trace_file), "-e", traced,
            "-e", f"inject={calls}:{how}", "-p", str(process),
        ]

    def __enter__(self) -> Injected:
        self.tracer = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_until("strace is attached", self.is_attached)
        return self

    def __exit__(self, *error: object) -> None:
        # Lets go of the process, which runs on.
        self.tracer.send_signal(signal.SIGINT)
        self.tracer.communicate(timeout=60)
        self.trace = self.trace_file.read_text()
        self.trace_file.unlink()

    def is_attached(self) -> bool:
        if self.tracer.poll() is not None:
            raise AssertionError(f"strace ended: {self.tracer.communicate()[1]}")
        tracers = [re.search(r"^TracerPid:\t(\d+)", status.read_text(), re.MULTILINE)
                   for status in Path(f"/proc/{self.process}/task").glob("*/status")]
        return all(tracer and int(tracer[1]) == self.tracer.pid for tracer in tracers)

    @property
    def count(self) -> int:
        """How many calls were hit."""
        trace = getattr(self, "trace", None) or self.trace_file.read_text()
        return trace.count("INJECTED") + trace.count("DELAYED")
