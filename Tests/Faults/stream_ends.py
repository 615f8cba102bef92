"""Ends of streams that are cut off at any byte: by messages, and by the Python client, which uses a descriptor."""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from daemon import LIMIT, ROOT, Bridge

sys.path.insert(0, str(ROOT / "Clients/Python"))

import trestle_bridge  # noqa: E402
from trestle_bridge import BridgeError  # noqa: E402

PIECE_BYTES = 24_000


# The errors that a side gets after the other side has ended; later the stream does not exist any more.
GONE = ["stream.closed", "stream.not_found"]

# Makes a call, and returns its result.
Call = Callable[[str, Any], Any]


def calling(bridge: Bridge) -> Call:
    def call(task: str, options: Any) -> Any:
        number = bridge.send(task, options)
        while (message := bridge.receive()) is not None and message.get("callbackId") != number:
            assert "event" in message, message
        if message is None:
            raise ConnectionResetError(f"{task}: the connection ended before the callback")
        if "error" in message:
            raise BridgeError(message["error"]["code"], message["error"]["message"])
        return message["result"]

    return call


class Output(Protocol):
    def write(self, data: bytes, /) -> object: ...
    def close(self) -> None:
        """Raises if the reader has not received every byte."""


class Input(Protocol):
    def read(self, count: int, /) -> bytes | None:
        """Returns at most that number of bytes; none: the stream is complete."""


class MessageWriter:
    """Writes by messages only."""

    def __init__(self, call: Call, stream: str) -> None:
        self.call = call
        self.stream = stream
        self.count = 0

    def write(self, data: bytes) -> None:
        self.call("bridge.stream.write", {"stream": self.stream, "base64": base64.b64encode(data).decode()})
        self.count += len(data)

    def close(self) -> None:
        if self.call("bridge.stream.close", {"stream": self.stream, "bytes": self.count})["complete"] is not True:
            raise BridgeError("stream.closed", "the stream is not complete")


class MessageReader:
    """Reads by messages only."""

    def __init__(self, call: Call, stream: str) -> None:
        self.call = call
        self.stream = stream
        self.count = 0

    def read(self, count: int) -> bytes:
        answer = self.call("bridge.stream.read", {"stream": self.stream, "bytes": count})
        if answer.get("end"):
            assert answer["bytes"] == self.count, f"{self.count} of {answer['bytes']} bytes came"
            return b""
        data = base64.b64decode(answer["base64"])
        self.count += len(data)
        return data


@dataclass
class Side:
    """One side of a stream, and its result."""

    # The number of bytes after which `cut` is called; None: never.
    cut_at: int | None
    cut: Callable[[], None]
    # Whether this side is the one that is cut, and so stops.
    is_victim: bool = True
    count: int = 0
    # How it ended: "complete", "cut", or the code of an error.
    end: str = ""
    data: list[bytes] = field(default_factory=list)

    def is_cut(self) -> bool:
        """Calls `cut` if it is due. Returns whether this side must stop."""
        if self.cut_at is None or self.count < self.cut_at:
            return False
        self.cut()
        self.cut_at = None
        if self.is_victim:
            self.end = "cut"
        return self.is_victim

    def most(self) -> int:
        """Returns the number of bytes for one step."""
        return PIECE_BYTES if self.cut_at is None else min(PIECE_BYTES, self.cut_at - self.count)

    def write(self, output: Output, data: bytes) -> None:
        try:
            while not self.is_cut():
                if self.count == len(data):
                    output.close()
                    self.end = "complete"
                    return
                piece = data[self.count:self.count + self.most()]
                output.write(piece)
                self.count += len(piece)
        except (BridgeError, OSError) as error:
            self.end = code(error)

    def read(self, source: Input) -> None:
        try:
            while not self.is_cut():
                piece = source.read(self.most())
                if not piece:
                    self.end = "complete"
                    return
                self.data.append(piece)
                self.count += len(piece)
        except (BridgeError, OSError) as error:
            self.end = code(error)


def code(error: BridgeError | OSError) -> str:
    return error.code if isinstance(error, BridgeError) else type(error).__name__


@dataclass
class Plan:
    """The actions of a process on its end."""

    socket: str
    side: str  # "write" or "read"
    by: str  # "messages" or "descriptor"
    data: bytes
    cut_at: int | None = None
    # The process that gets the signal there; 0: this process itself.
    victim: int = 0
    signal: int = signal.SIGKILL
    # Whether this end then waits until the victim has ended.
    stands: bool = False
    makes: bool = False


class EndProcess:
    """A process that has one end of a stream. It is forked: its parent has no threads."""

    def __init__(self, plan: Plan, names: tuple[int, int], taken: tuple[int, int]) -> None:
        """
        Args:
            names: a pipe for the name of the stream, from its creator to the other process.
            taken: a pipe that gets a byte once the victim's end is taken.
        """
        self.plan, self.names, self.taken = plan, names, taken
        self.cut_time: float | None = None
        self.reports, report = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(report)
            return
        try:
            os.write(report, json.dumps(self.play()).encode())
        except BaseException as error:
            os.write(report, json.dumps({"end": f"{type(error).__name__}: {error}"}).encode())
        finally:
            os._exit(0)

    def play(self) -> dict[str, Any]:
        side = Side(self.plan.cut_at, self.kill, is_victim=self.plan.victim == 0)
        if self.plan.by == "messages":
            with Bridge(self.plan.socket) as bridge:
                call = calling(bridge)
                stream = self.name(lambda: call("bridge.stream.new", {"side": self.plan.side})["stream"])
                if self.plan.side == "write":
                    side.write(self.noting(MessageWriter(call, stream)), self.plan.data)
                else:
                    side.read(self.noting(MessageReader(call, stream)))
        else:
            with trestle_bridge.connect(self.plan.socket) as client:
                made: list[Any] = []
                stream = self.name(lambda: self.make(client, made))
                if self.plan.side == "write":
                    side.write(self.noting(made[0] if made else client.write_stream(stream)), self.plan.data)
                else:
                    side.read(self.noting(made[0] if made else client.read_stream(stream)))
        whole = b"".join(side.data)
        return {"end": side.end, "count": side.count, "isBeginning": self.plan.data.startswith(whole),
                "cutTime": self.cut_time}

    def make(self, client: trestle_bridge.Bridge, made: list[Any]) -> str:
        made.append(client.make_stream() if self.plan.side == "write" else client.make_stream_to_read())
        return str(made[0].name)

    def name(self, make: Callable[[], str]) -> str:
        if not self.plan.makes:
            return os.read(self.names[0], 64).decode()
        name = make()
        os.write(self.names[1], name.encode())
        return name

    def noting(self, end: Any) -> Any:
        """Returns the end, with a note of its first use."""
        return end if self.plan.side == "write" else Noting(end, self.taken[1])

    def kill(self) -> None:
        if self.plan.victim:
            # A victim that never used the name would make this side wait for a minute.
            os.read(self.taken[0], 1)
        victim = self.plan.victim or os.getpid()
        ended = os.pidfd_open(victim)
        self.cut_time = time.monotonic()
        signal.pidfd_send_signal(ended, self.plan.signal)
        if self.plan.stands:
            select.select([ended], [], [], LIMIT)
        os.close(ended)

    def report(self) -> dict[str, Any] | None:
        """Returns the result, once the process has ended; None if it was killed."""
        text = b""
        try:
            while select.select([self.reports], [], [], LIMIT)[0]:
                if not (part := os.read(self.reports, 4_096)):
                    return json.loads(text) if text else None
                text += part
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"after {LIMIT} s the {self.plan.side}r still waits")
        finally:
            os.close(self.reports)
            os.waitpid(self.pid, 0)


class Noting:
    """An input that reports when the first bytes have arrived: from then on its end is taken."""

    def __init__(self, source: Input, taken: int) -> None:
        self.source = source
        self.taken: int | None = taken

    def read(self, count: int) -> bytes | None:
        data = self.source.read(count)
        if self.taken is not None:
            os.write(self.taken, b"t")
            self.taken = None
        return data
