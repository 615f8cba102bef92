"""The daemon's side of a plugin process, as docs/plugin-processes.md specifies it, for tests without a daemon: of this
package, of the examples, and of the hostile plugins in Tests/HostilePlugins."""

from __future__ import annotations

import importlib
import json
import os
import queue
import resource
import signal
import socket
import subprocess
import threading
from itertools import count
from pathlib import Path
from typing import Any, Optional, Sequence

from trestle_bridge._plugin import wire

# Not an import statement: Python 3.10 does not have this module, and the type checker uses that version.
_toml: Any = importlib.import_module("tomllib")

TEST_TIMEOUT = 120.0
"""The number of seconds after which a waiting test fails. A normal run never takes as long."""

MESSAGE_BYTES = 1 << 20
LINE_BYTES = MESSAGE_BYTES + (64 << 10)
CALLER = {
    "session": 3, "uid": 1000, "gid": 1000, "pid": 4711, "origin": "local", "user": None, "client": None,
    "trusted": False,
}


# Keeps descriptor 3 open in this process. Otherwise subprocess could use it in the child before the plugin starts.
while (_taken := os.open(os.devnull, os.O_RDONLY)) < 3:
    pass
if _taken > 3:
    os.close(_taken)


class PluginEnded(Exception):
    """The plugin has closed its end of the socket."""


class BadLine(Exception):
    """A line for which a daemon kills a plugin's process: it is not a message, or it is too long."""


class PluginError(Exception):
    """The error of a callback."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.error = error
        self.code = error["code"]


def read_manifest(path: Path) -> dict[str, Any]:
    """Reads a manifest as the daemon does."""
    with open(path, "rb") as file:
        content: dict[str, Any] = _toml.load(file)
        return content


class FakeDaemon:
    """A started plugin, and its messages. `close` kills its whole process group."""

    def __init__(
        self, command: Sequence[str], folder: Path, *, name: str = "test", environment: Optional[dict[str, str]] = None,
        memory_bytes: Optional[int] = None, descriptors: int = 256,
    ) -> None:
        here, theirs = socket.socketpair()
        # Large enough for all bytes that are written before they are read, so that the test never waits.
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        self.socket = here
        here.settimeout(TEST_TIMEOUT)
        self._lines = here.makefile("rb")
        self._ids = count(1)
        self._seen: list[dict[str, Any]] = []
        self.log: queue.SimpleQueue[str] = queue.SimpleQueue()
        """The lines that it wrote to standard output and standard error."""
        inherited = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        inherited |= {wire.DESCRIPTOR: "3", "TRESTLE_PLUGIN": name, **(environment or {})}

        def prepare() -> None:
            # In the child, before it becomes the plugin.
            os.setpgid(0, 0)
            os.dup2(theirs.fileno(), 3)
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            if memory_bytes is not None:
                resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

        self.process = subprocess.Popen(
            list(command), cwd=folder, env=inherited, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, preexec_fn=prepare, pass_fds=(3,),
        )
        theirs.close()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    @staticmethod
    def of_manifest(path: Path, environment: Optional[dict[str, str]] = None, **settings: Any) -> FakeDaemon:
        """Starts the plugin of a manifest."""
        manifest = read_manifest(path)
        program, *arguments = manifest["command"]
        if "/" in program:
            program = str(path.parent / program)
        name = path.name.removesuffix(".plugin.toml")
        merged = {**manifest.get("environment", {}), **(environment or {})}
        return FakeDaemon([program, *arguments], path.parent, name=name, environment=merged, **settings)

    # Messages

    def send(self, *messages: Any) -> None:
        """Sends messages. Sends bytes unchanged."""
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.socket.sendall(data)

    def start_call(self, task: str, options: Any = None, **fields: Any) -> int:
        """Sends a call. Returns its id."""
        call_id = next(self._ids)
        message = {"task": task, "options": {} if options is None else options, "callbackId": call_id}
        if not task.startswith("plugin."):
            message["caller"] = CALLER
        self.send({**message, **fields})
        return call_id

    def read(self) -> dict[str, Any]:
        """Returns the next message.

        Raises:
            PluginEnded: the plugin has closed its end.
            BadLine: the line is not a message.
        """
        try:
            line = self._lines.readline(LINE_BYTES + 1)
        except ConnectionError as error:
            raise PluginEnded from error
        if not line:
            raise PluginEnded
        if not line.endswith(b"\n"):
            raise BadLine("a line that is too long" if len(line) > LINE_BYTES else "half a line")
        try:
            message = json.loads(line)
        except ValueError as error:
            raise BadLine(str(error)) from error
        if not isinstance(message, dict):
            raise BadLine("no object")
        return message

    def next(self, **fields: Any) -> dict[str, Any]:
        """Returns the next message with these members; `...` matches any value. Other messages are kept for later."""
        def fits(message: dict[str, Any]) -> bool:
            return all(name in message and value in (..., message[name]) for name, value in fields.items())

        for message in self._seen:
            if fits(message):
                self._seen.remove(message)
                return message
        while not fits(message := self.read()):
            self._seen.append(message)
        return message

    def result(self, call_id: int) -> Any:
        """Returns the result of a call.

        Raises:
            PluginError: the call ended with an error.
        """
        while "progress" in (message := self.next(callbackId=call_id)):
            pass
        if "error" in message:
            raise PluginError(message["error"])
        return message["result"]

    def call(self, task: str, options: Any = None, **fields: Any) -> Any:
        """Calls a task, and waits for its end."""
        return self.result(self.start_call(task, options, **fields))

    def ask(self, task: str, options: Any = None) -> Any:
        """Calls a task about the plugin itself. Returns None if the plugin does not have it."""
        try:
            return self.call(task, options)
        except PluginError as error:
            if error.code != "task.not_found":
                raise
            return None

    def hello(self) -> Any:
        """Sends `plugin.hello`. Returns the answer."""
        return self.ask("plugin.hello", {
            "protocol": {"name": wire.PROTOCOL, "version": wire.PROTOCOL_VERSION}, "plugin": "test",
            "daemon": {"name": "trestled", "version": "0"}, "limits": {"messageBytes": MESSAGE_BYTES},
        })

    def start(self, configuration: Any = None, state: str = "/nonexistent") -> Any:
        """Makes all calls that precede the first call of a task. Returns the plugin's hello."""
        hello = self.hello()
        self.ask("plugin.configure", configuration)
        self.ask("plugin.start", {"stateDirectory": state, "launch": {"arguments": []}})
        return hello

    def stop(self) -> int:
        """Stops the plugin. Returns its exit status."""
        self.ask("plugin.stop")
        self.socket.shutdown(socket.SHUT_WR)
        return self.process.wait(TEST_TIMEOUT)

    # The end of the plugin

    def log_until(self, text: str) -> str:
        """Returns the lines of its log, up to a line that contains the text."""
        lines: list[str] = []
        while not lines or text not in lines[-1]:
            lines.append(self.log.get(timeout=TEST_TIMEOUT))
        return "\n".join(lines)

    def wait_end(self) -> int:
        """Reads until the plugin closes its end, and waits for its process. Returns its exit status, negative for a
        signal."""
        try:
            while True:
                self.read()
        except PluginEnded:
            return self.process.wait(TEST_TIMEOUT)

    def close(self) -> None:
        """Kills the remaining processes."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(TEST_TIMEOUT)
        self._reader.join(TEST_TIMEOUT)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._lines.close()
        self.socket.close()

    def _read_log(self) -> None:
        if self.process.stdout is not None:
            for line in self.process.stdout:
                self.log.put(line.decode("utf-8", "replace").rstrip("\n"))
