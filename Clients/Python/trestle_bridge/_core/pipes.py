"""Ends of pipes that the daemon passes together with results. Reads and writes do not block.

An interface waits for them, and an alarm wakes it up.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Protocol, Sequence

from . import wire
from .jsontext import encode

_READ_BYTES = 64 << 10
"""The maximum number of bytes of one read: the capacity of a pipe."""

_MAX_KEPT = 64
"""The maximum number of ends that are kept before their results have arrived. A daemon passes one with each result."""

_ANCILLARY_BYTES = socket.CMSG_SPACE(16 * 4)

_ATTACH, _NEW = encode(wire.STREAM_ATTACH), encode(wire.STREAM_NEW)


class Alarm(Protocol):
    """Wakes up an interface that waits for a pipe. Any thread."""

    def ring(self) -> None:
        """Wakes up the waiter."""

    def close(self) -> None:
        """Closes the alarm, because nothing waits any more."""


class Pipe:
    """One end of a pipe, which does not block. It is closed by `close`, or when it is garbage-collected.

    Attributes:
        alarm: the alarm of the interface that waits for the pipe; None if it has not waited yet. Closed with the pipe.
        is_closed: whether the pipe must not be read or written any more.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.alarm: Optional[Alarm] = None
        self.is_closed = False
        # Reentrant: a signal handler may close the pipe.
        self._lock = threading.RLock()
        self._users = 0
        os.set_blocking(descriptor, False)

    def fileno(self) -> int:
        """Returns the descriptor; -1 if it is closed."""
        return self._descriptor

    def read(self) -> Optional[bytes]:
        """Returns the available bytes; empty at the end of the pipe, None if no bytes are available now."""
        if self.is_closed:
            return b""
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return None

    def write(self, data: memoryview) -> Optional[int]:
        """Writes as many bytes as fit, and returns their number; None if the pipe has no reader."""
        if self.is_closed:
            return None
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return None

    @contextmanager
    def used(self) -> Iterator[None]:
        """A context manager for the use of the descriptor: no other thread or task closes the descriptor meanwhile."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                self._close_unused()

    def close(self) -> None:
        """Closes the end. If it is in use, the user closes it afterwards. Any thread."""
        with self._lock:
            self.is_closed = True
            if self.alarm is not None:
                self.alarm.ring()
            self._close_unused()

    def _close_unused(self) -> None:
        if not self.is_closed or self._users > 0 or self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)
        if self.alarm is not None:
            self.alarm.close()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0 and hasattr(self, "_users"):
            self._users = 0
            self.close()


def may_write_pipes() -> bool:
    """Whether this process survives a write to a pipe without a reader. Python ignores SIGPIPE, but a program may have
    restored its default action."""
    return signal.getsignal(signal.SIGPIPE) is not signal.SIG_DFL


def receive(connection: socket.socket, max_bytes: int) -> tuple[bytes, list[Optional[Pipe]]]:
    """Reads a socket.

    Returns:
        The bytes, and the ends of pipes that arrived with them. An end is None if the system could not pass it, for
        example for lack of descriptors.
    """
    data, ancillary, flags, _ = connection.recvmsg(max_bytes, _ANCILLARY_BYTES, socket.MSG_CMSG_CLOEXEC)
    pipes: list[Optional[Pipe]] = []
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers = memoryview(content)[:len(content) // 4 * 4].cast("i")
            pipes += [Pipe(number) for number in numbers]
    if flags & socket.MSG_CTRUNC:
        pipes.append(None)
    return data, pipes


@dataclass(frozen=True)
class Passed:
    """A result, and the end of a pipe that arrived with it; None if the system could not pass it."""

    result: Any
    pipe: Optional[Pipe]


def is_attached(result: Any) -> bool:
    """Whether the end of a pipe arrived with the result of `bridge.stream.new`."""
    return isinstance(result, dict) and result.get(wire.ATTACHED) is True


class PassedPipes:
    """The ends that arrived over a connection, until their results take them. They arrive in the order of the results,
    even if no caller waits for a result."""

    def __init__(self) -> None:
        self._pipes: deque[Optional[Pipe]] = deque()
        # By the ids of calls: whether the result states that there is an end.
        self._expected: dict[int, bool] = {}

    def add(self, pipes: Sequence[Optional[Pipe]]) -> None:
        """Stores ends that have arrived."""
        for pipe in pipes:
            if len(self._pipes) < _MAX_KEPT:
                self._pipes.append(pipe)
            elif pipe is not None:
                pipe.close()

    def expect(self, call_id: int, task: bytes) -> None:
        """Records that a call was sent. The daemon passes an end with each result of `bridge.stream.attach`, and with
        those results of `bridge.stream.new` that state it.

        Args:
            task: the name of the task, as JSON.
        """
        if task in (_ATTACH, _NEW):
            self._expected[call_id] = task == _NEW

    def forget(self, call_id: int) -> None:
        """Removes a call that was not sent."""
        self._expected.pop(call_id, None)

    def take(self, message: dict[str, Any]) -> Optional[Pipe]:
        """Removes and returns the end that belongs to a callback; None if there is none."""
        call_id = message["callbackId"]
        if type(call_id) is not int or call_id not in self._expected:
            return None
        says_so = self._expected.pop(call_id)
        if "result" not in message or says_so and not is_attached(message["result"]):
            return None
        return self._pipes.popleft() if self._pipes else None

    def clear(self) -> None:
        """Closes all ends, because the connection has ended."""
        self._expected.clear()
        while self._pipes:
            if (pipe := self._pipes.popleft()) is not None:
                pipe.close()
