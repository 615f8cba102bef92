"""System calls of a running process that fail, or are slow, for the duration of a block."""

from __future__ import annotations

import os
import signal
import subprocess
import threading

from bridge import LIMIT

SYNC = "fsync,fdatasync"
WRITE = "pwrite64"


class Injected:
    """Attaches strace to all threads of the process, which manipulates the calls as `how` specifies (`error=EIO`)."""

    def __init__(self, process: int, calls: str, how: str, also: str = "") -> None:
        """Calls in `also` are recorded, and not manipulated."""
        traced = f"trace={calls},{also}" if also else f"trace={calls}"
        self.command = [
            "strace", "-f", "-s", "300", "-e", traced, "-e", f"inject={calls}:{how}", "-p", str(process),
        ]
        self.lines: list[str] = []
        self.is_hit = threading.Event()
        self.reading = threading.Thread(target=self.read)

    def __enter__(self) -> Injected:
        output, written = os.pipe()
        self.output = os.fdopen(output)
        self.tracer = subprocess.Popen(
            [*self.command, "-o", f"/dev/fd/{written}"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            pass_fds=[written])
        os.close(written)
        assert self.tracer.stderr is not None
        # "strace: Process 1 attached with 4 threads", once all of them are.
        said = self.tracer.stderr.readline()
        if " attached" not in said:
            raise AssertionError(f"strace is not attached: {said}{self.tracer.communicate()[1]}")
        self.reading.start()
        return self

    def __exit__(self, *error: object) -> None:
        # Detaches from the process, which continues.
        self.tracer.send_signal(signal.SIGINT)
        self.tracer.communicate(timeout=LIMIT)
        self.reading.join()
        self.output.close()

    def read(self) -> None:
        """Reads the output of strace as it is written."""
        for line in self.output:
            self.lines.append(line)
            if "INJECTED" in line or "DELAYED" in line:
                self.is_hit.set()

    @property
    def trace(self) -> str:
        return "".join(self.lines)

    @property
    def count(self) -> int:
        """Returns the number of manipulated calls."""
        return self.trace.count("INJECTED") + self.trace.count("DELAYED")
