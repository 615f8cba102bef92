"""A server for Fetch, which stops at a phase of the response, and a client of the bridge that counts callbacks."""

from __future__ import annotations

import socket
from typing import Any

from connection_server import ConnectionServer
from daemon import Daemon

# More than a result, and the buffers of a stream, can contain.
LONG_BYTES = 4_000_000
SHORT_BYTES = 2_000

CONFIGURATION = """
[plugins.fetch]
isolation = "process"
private_networks = ["127.0.0.0/8"]
transfers = 2
"""


class StoppingServer(ConnectionServer):
    """Reads the request's head, and then stops:

    /waiting before the status line, /receiving within a short body, /streaming within a long one. /short is answered.
    It reads no more bytes, and does not answer a client that uses TLS.
    """

    def url(self, path: str, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}/{path}"

    def answer(self, connection: socket.socket, head: bytes) -> bool:
        for path, length in ((b"/receiving", SHORT_BYTES), (b"/streaming", LONG_BYTES)):
            if path in head:
                connection.sendall(self.start(length) + bytes(length // 2))
        if b"/short" not in head:
            self.ended.wait()
            return False
        connection.sendall(self.start(2) + b"ok")
        return True

    def start(self, length: int) -> bytes:
        return f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\r\n".encode()


def plugin_process(daemon: Daemon, name: str) -> int:
    plugins = daemon.result("bridge.plugins")["plugins"]
    return next(int(entry["pid"]) for entry in plugins if entry["name"] == name)


class Callbacks:
    """A connection that records each callback, and the progress of the calls."""

    def __init__(self, daemon: Daemon) -> None:
        self.bridge = daemon.connect()
        self.callbacks: dict[int, list[Any]] = {}
        self.progress: dict[int, list[Any]] = {}

    def begin(self, task: str, options: Any) -> int:
        return self.bridge.send(task, options, progress=True)

    def receive(self) -> None:
        message = self.bridge.receive()
        if message is None:
            raise ConnectionResetError("the connection ended")
        if "progress" in message:
            self.progress.setdefault(message["callbackId"], []).append(message["progress"])
        elif "callbackId" in message:
            self.callbacks.setdefault(message["callbackId"], []).append(message)

    def until_phase(self, number: int, phase: str) -> None:
        while not any(report.get("phase") == phase for report in self.progress.get(number, [])):
            assert number not in self.callbacks, self.callbacks[number]
            self.receive()

    def outcome(self, number: int) -> Any:
        while number not in self.callbacks:
            self.receive()
        return self.callbacks[number][0]

    def call(self, task: str, options: Any = None) -> Any:
        return self.outcome(self.bridge.send(task, options))

    def count(self, number: int) -> int:
        """Returns the number of callbacks of a call so far, including one that was sent before the answer to this
        request."""
        self.call("bridge.status")
        return len(self.callbacks.get(number, []))

    def forget(self) -> None:
        """Drops the recorded callbacks and progress."""
        self.callbacks.clear()
        self.progress.clear()
