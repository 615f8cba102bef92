"""Common helpers for the tests: a real daemon, and a server that a test can make misbehave."""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, Optional

from trestle_bridge import Backoff

PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
REPOSITORY = PACKAGE_FOLDER.parent.parent
TEST_TIMEOUT = 120.0
"""The number of seconds after which a waiting test fails. A normal run never takes as long."""
SOON = Backoff(first=0.001, max_pause=0.005)
"""The back-off for tests that reconnect."""


def daemon_folder() -> Optional[Path]:
    """Returns the folder of trestled and its plugins."""
    named = os.environ.get("TRESTLE_BIN")
    builds = [REPOSITORY / ".build/release", REPOSITORY / ".build/debug"]
    for folder in [Path(named)] if named else builds:
        if (folder / "trestled").exists():
            return folder
    return None


class Daemon:
    """A daemon with its own socket and state, and with the plugins of a folder, by default its own folder. The
    configuration is the text of its file."""

    def __init__(self, plugins: Optional[Path] = None, configuration: str = "") -> None:
        binaries = daemon_folder()
        if binaries is None:
            raise unittest.SkipTest("there is no trestled: build it, or name its folder in TRESTLE_BIN")
        self._binaries = binaries
        self._plugins = plugins or binaries
        self._folder = tempfile.TemporaryDirectory(prefix="trestle-python-")
        self.path = f"{self._folder.name}/s.sock"
        self._process: Optional[subprocess.Popen[bytes]] = None
        Path(f"{self._folder.name}/trestled.toml").write_text(configuration, "utf-8")
        self.start()

    def start(self) -> None:
        """Starts the daemon, and waits until it reports that it is ready."""
        notify_path = f"{self._folder.name}/notify"
        # Hides its log: a build folder contains libraries that are not plugins, which the daemon logs.
        log = open(f"{self._folder.name}/log", "ab")
        with log, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(notify_path)
            notify.settimeout(TEST_TIMEOUT)
            self._process = subprocess.Popen(
                [
                    self._binaries / "trestled", "--config", f"{self._folder.name}/trestled.toml",
                    "--socket", self.path, "--state-dir", f"{self._folder.name}/state", "--plugin-dir", self._plugins,
                    "--log-level", "error",
                ],
                env={**os.environ, "NOTIFY_SOCKET": notify_path},
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
            while b"READY=1" not in notify.recv(4096):
                pass
        os.unlink(notify_path)

    def stop(self) -> None:
        """Ends the daemon with a clean shutdown."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(TEST_TIMEOUT)
            self._process = None

    def close(self) -> None:
        """Ends the daemon, and removes its files."""
        self.stop()
        self._folder.cleanup()


class DaemonTestCase(unittest.TestCase):
    """Tests that share a daemon, one per class."""

    daemon: Daemon

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.close)


class Peer:
    """The server's end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._lines = connection.makefile("rb")

    def read(self) -> dict[str, Any]:
        """Returns the next message of the client."""
        line = self._lines.readline()
        if not line:
            raise EOFError("the client has ended its output")
        message: dict[str, Any] = json.loads(line)
        return message

    def read_call(self, task: str) -> dict[str, Any]:
        """Returns the next message, which must be a call of this task."""
        message = self.read()
        assert message.get("task") == task, message
        return message

    def send(self, *messages: Any) -> None:
        """Sends messages. Sends bytes unchanged."""
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.socket.sendall(data)

    def answer(self, call: dict[str, Any], result: Any) -> None:
        """Answers a call of the client."""
        self.send({"callbackId": call["callbackId"], "result": result})

    def close(self) -> None:
        """Ends the connection."""
        self._lines.close()
        self.socket.close()


Greeting = Callable[[Peer, dict[str, Any]], bool]


def greet(peer: Peer, hello: dict[str, Any]) -> bool:
    """Answers `bridge.hello` as the daemon does."""
    peer.answer(hello, {"protocol": 1, "session": 7, "limits": {"messageBytes": 1 << 20}})
    return True


class FakeServer:
    """Accepts connections and answers their hello; the test does the rest. `peer` returns only connections whose hello
    was answered."""

    def __init__(self, greeting: Greeting = greet, *, listening: bool = True) -> None:
        self.greeting = greeting
        self._folder = tempfile.TemporaryDirectory(prefix="trestle-python-")
        self.path = f"{self._folder.name}/s.sock"
        self._peers: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        self._all: list[Peer] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        if listening:
            self.listen()

    def listen(self) -> None:
        """Begins to accept connections."""
        self._listener.bind(self.path)
        self._listener.listen()
        self._thread.start()

    def peer(self) -> Peer:
        """Returns the next connection whose hello was answered."""
        return self._peers.get(timeout=TEST_TIMEOUT)

    def close(self) -> None:
        """Ends everything."""
        # Closing the socket does not wake up a thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(TEST_TIMEOUT)
        self._listener.close()
        for peer in self._all:
            peer.close()
        self._folder.cleanup()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(TEST_TIMEOUT)
            peer = Peer(connection)
            self._all.append(peer)
            try:
                if self.greeting(peer, peer.read_call("bridge.hello")):
                    self._peers.put(peer)
            except (OSError, EOFError):
                continue


class FakeServerTestCase(unittest.TestCase):
    """Tests that each have a misbehaving server."""

    def setUp(self) -> None:
        self.server = FakeServer()
        self.addCleanup(self.server.close)
