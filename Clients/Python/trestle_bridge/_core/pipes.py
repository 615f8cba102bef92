"""Ends of pipes that the daemon passes beside results. They are read and written as far as that goes at the moment.

A face waits for them, and wakes up by an alarm.
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
"""What one read takes at most: as much as a pipe holds."""

_MAX_KEPT = 64
"""How many ends are kept whose results have not come. A daemon passes one with each result."""

_ANCILLARY_BYTES = socket.CMSG_SPACE(16 * 4)

_ATTACH, _NEW = encode(wire.STREAM_ATTACH), encode(wire.STREAM_NEW)


class Alarm(Protocol):
    """What wakes up a face that waits for a pipe. Any thread."""

    def ring(self) -> None:
        """Something has happened."""

    def close(self) -> None:
        """Nobody waits any longer."""


class Pipe:
    """One end of a pipe, which does not block. Closed with `close`, or when it goes.

    Attributes:
        alarm: what the waiting face wakes up by; None: it has not waited. Closed with the pipe.
        is_closed: it is read and written no further.
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
        """The descriptor; -1: there is none any longer."""
        return self._descriptor

    def read(self) -> Optional[bytes]:
        """What is there. Empty: the pipe has ended; None: nothing is there at present."""
        if self.is_closed:
            return b""
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return None

    def write(self, data: memoryview) -> Optional[int]:
        """Writes what fits, and returns how many bytes that were. None: nobody reads."""
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
        """A thread or task uses the descriptor: until it leaves this, no other one closes it."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                self._close_unused()

    def close(self) -> None:
        """Closes the end, or has the one that uses it do so. Any thread."""
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
    """Whether this process survives a write that nobody reads: Python ignores SIGPIPE, a program may have changed
    that."""
    return signal.getsignal(signal.SIGPIPE) is not signal.SIG_DFL


def receive(connection: socket.socket, max_bytes: int) -> tuple[bytes, list[Optional[Pipe]]]:
    """Reads a socket.

    Returns:
        The bytes, and the ends of pipes that came with them. None: the system could not pass one, such as for lack of
        descriptors.
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
    """A result and the end of a pipe that came beside it. None: the system could not pass it."""

    result: Any
    pipe: Optional[Pipe]


def is_attached(result: Any) -> bool:
    """Whether the result of `bridge.stream.new` bears the end of a pipe."""
    return isinstance(result, dict) and result.get(wire.ATTACHED) is True


class PassedPipes:
    """Ends that came over a connection, until their results take them: they come in the order of these, whether anyone
    waits for the results or not."""

    def __init__(self) -> None:
        self._pipes: deque[Optional[Pipe]] = deque()
        # By the ids of calls: whether the result says that there is one.
        self._expected: dict[int, bool] = {}

    def add(self, pipes: Sequence[Optional[Pipe]]) -> None:
        """They came."""
        for pipe in pipes:
            if len(self._pipes) < _MAX_KEPT:
                self._pipes.append(pipe)
            elif pipe is not None:
                pipe.close()

    def expect(self, call_id: int, task: bytes) -> None:
        """A call was sent. The daemon passes an end with each result of `bridge.stream.attach`, and with those of
        `bridge.stream.new` that say so.

        Args:
            task: the name of the task, as JSON.
        """
        if task in (_ATTACH, _NEW):
            self._expected[call_id] = task == _NEW

    def forget(self, call_id: int) -> None:
        """The call was taken back."""
        self._expected.pop(call_id, None)

    def take(self, message: dict[str, Any]) -> Optional[Pipe]:
        """The end that belongs to a callback."""
        call_id = message["callbackId"]
        if type(call_id) is not int or call_id not in self._expected:
            return None
        says_so = self._expected.pop(call_id)
        if "result" not in message or says_so and not is_attached(message["result"]):
            return None
        return self._pipes.popleft() if self._pipes else None

    def clear(self) -> None:
        """The connection is gone."""
        self._expected.clear()
        while self._pipes:
            if (pipe := self._pipes.popleft()) is not None:
                pipe.close()
