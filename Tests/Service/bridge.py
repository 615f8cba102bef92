"""A client of the bridge in plain Python."""

import itertools
import json
import socket

SOCKET = "/run/trestle/bridge.sock"

LIMIT = 300
"""The limit of every wait in seconds. Only a hanging test takes so long, on any machine."""


class Bridge:
    """A connection."""

    def __init__(self, path=SOCKET, timeout=LIMIT, connected=None):
        """Connects to a path, or uses a socket that is already connected."""
        self.socket = connected or socket.socket(socket.AF_UNIX)
        # Without a timeout: with one, Python does not wait for room in a socket's queue, but fails.
        if connected is None:
            self.socket.connect(path)
        self.socket.settimeout(timeout)
        self.lines = self.socket.makefile("rb")
        self.numbers = itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.lines.close()
        self.socket.close()

    def send(self, task, options=None, **fields):
        """Sends a call, and returns its callbackId."""
        number = next(self.numbers)
        self.post(task, options, number, **fields)
        return number

    def post(self, task, options, number, **fields):
        """Sends a call with a callbackId of the caller's choice."""
        message = {"task": task, "options": options or {}, "callbackId": number, **fields}
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self):
        """Returns the next message, or None at the end."""
        line = self.lines.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def call(self, task, options=None, **fields):
        """Makes a call and returns its callback, which must be the only message."""
        number = self.send(task, options, **fields)
        message = self.receive()
        if message is None:
            raise ConnectionResetError(f"{task}: the connection ended before the callback")
        assert message["callbackId"] == number, message
        return message


def call(task, options=None):
    """Returns the result of a call on a connection of its own."""
    with Bridge() as bridge:
        message = bridge.call(task, options)
    assert "result" in message, message
    return message["result"]
