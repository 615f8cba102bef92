"""The part of systemd for the daemon: receives its notifications, and keeps the descriptors that it stores."""

from __future__ import annotations

import fcntl
import os
import select
import socket
import subprocess
from dataclasses import dataclass

from bridge import LIMIT

MESSAGE_BYTES = 8 << 10


@dataclass
class Stored:
    """A descriptor that the daemon has stored for the next one."""

    name: str
    descriptor: int


class Manager:
    """A manager for all daemons of a home, which run one after the other."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.stored: list[Stored] = []

    def close(self) -> None:
        self.socket.close()
        for stored in self.stored:
            os.close(stored.descriptor)

    def forget(self) -> None:
        """Drops the messages of an earlier daemon, which may have been killed."""
        while self.has_message():
            self.receive()

    def has_message(self) -> bool:
        return bool(select.select([self.socket], [], [], 0)[0])

    def is_ready(self, process: subprocess.Popen[bytes]) -> bool:
        """Waits until the daemon reports that it is ready. False if its process has ended."""
        return self.wait(process, "READY=1")

    def has_ended(self, process: subprocess.Popen[bytes]) -> int:
        """Waits for the end of the process, and handles its messages before that. Returns its exit status."""
        self.wait(process, None)
        return process.wait()

    def wait(self, process: subprocess.Popen[bytes], wanted: str | None) -> bool:
        """Handles messages up to the wanted one. False if the process has ended."""
        ended = os.pidfd_open(process.pid) if process.poll() is None else None
        try:
            while ended is not None:
                ready, _, _ = select.select([self.socket, ended], [], [], LIMIT)
                assert ready, f"{LIMIT} s without a word from the daemon, which has not ended"
                # Messages that a process sends before its end are in the queue by then.
                if self.socket in ready:
                    if wanted in self.receive():
                        return True
                else:
                    process.wait()
                    return False
        finally:
            if ended is not None:
                os.close(ended)
        return False

    def receive(self) -> list[str]:
        """Returns the lines of one message."""
        data, descriptors, _, _ = socket.recv_fds(self.socket, MESSAGE_BYTES, 16)
        lines = data.decode().split("\n")
        fields = dict(line.split("=", 1) for line in lines if "=" in line)
        if "FDSTORE" in fields:
            # Above the numbers that they will have in the next daemon.
            self.stored += [Stored(fields["FDNAME"], fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100))
                            for descriptor in descriptors]
        # Also those of a barrier, for whose closing the daemon waits.
        for descriptor in descriptors:
            os.close(descriptor)
        if "FDSTOREREMOVE" in fields:
            for stored in [stored for stored in self.stored if stored.name == fields["FDNAME"]]:
                self.stored.remove(stored)
                os.close(stored.descriptor)
        return lines
