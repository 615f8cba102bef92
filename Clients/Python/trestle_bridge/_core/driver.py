"""The core's socket, without waiting: connects, and reads and writes as much as is possible at the moment.

The interface waits for the socket and for the time `next_at`, and then calls `step`.
"""

from __future__ import annotations

import socket
from typing import Callable, Optional

from .core import Core
from .errors import CONNECTION_DENIED, DAEMON_UNREACHABLE, BridgeError
from .pipes import receive
from .state import State

_READ_BYTES = 256 << 10


class Driver:
    """One core and its current connection. Belongs to the thread that owns the core.

    `before_close` is called with the descriptor of a socket before it is closed. The watcher must then stop watching
    that number, which may soon belong to another file.
    """

    def __init__(self, core: Core, before_close: Callable[[int], None] = lambda descriptor: None) -> None:
        self.core = core
        self._before_close = before_close
        self._socket: Optional[socket.socket] = None
        self._write_failed = False
        self._is_shut_down = False

    @property
    def descriptor(self) -> int:
        """The descriptor to watch for input; -1 if there is none."""
        return -1 if self._socket is None else self._socket.fileno()

    @property
    def wants_write(self) -> bool:
        """Whether to watch the descriptor for output too."""
        return self._socket is not None and self.core.output.queued_bytes > 0 and not self._write_failed

    @property
    def next_at(self) -> Optional[float]:
        """The latest time for the next `step`, by the core's clock; None if no time is set."""
        if self.core.wants_connection:
            return self.core.timers.clock()
        return self.core.timers.next_at

    def step(self, readable: bool = False) -> None:
        """Reads if the socket is readable, runs due timers, connects if requested, and writes."""
        if readable:
            self._read()
        self.core.timers.run_due()
        if self._socket is not None and not self.core.has_connection:
            self.close()
        if self.core.wants_connection:
            self._connect()
        self._write()

    def close(self) -> None:
        """Closes the socket without notifying the daemon or the core."""
        if self._socket is not None:
            self._before_close(self._socket.fileno())
            self._socket.close()
            self._socket = None

    def _connect(self) -> None:
        path = self.core.settings.socket
        new = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            new.setblocking(False)
            new.connect(path)
        except (OSError, ValueError) as error:
            new.close()
            # A Unix socket connects immediately or fails. EAGAIN: the daemon's queue of new connections is full.
            self.core.connect_failed(_connect_error(path, error), again=isinstance(error, BlockingIOError))
            return
        self._socket = new
        self._write_failed = self._is_shut_down = False
        self.core.connected()

    def _read(self) -> None:
        if self._socket is None:
            return
        try:
            data, pipes = receive(self._socket, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            return self.core.lost(error.strerror or str(error))
        if data:
            self.core.received(data, pipes)
        else:
            self.core.lost("it ended its output")

    def _write(self) -> None:
        if self._socket is None or self._write_failed:
            return
        output = self.core.output
        try:
            while buffers := output.buffers():
                # Without the signal: the program may have restored the default action of SIGPIPE, which ends it.
                output.advance(self._socket.sendmsg(buffers, [], socket.MSG_NOSIGNAL))
            if self.core.state is State.CLOSING and not self._is_shut_down:
                self._is_shut_down = True
                self._socket.shutdown(socket.SHUT_WR)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            # The daemon has disconnected. Its last messages can still be read, followed by the end of the input.
            self._write_failed = True


def _connect_error(path: str, error: Exception) -> BridgeError:
    if isinstance(error, PermissionError):
        text = f"the socket {path} may not be opened by this user: see its owner, group and mode"
        return BridgeError(CONNECTION_DENIED, text, {"path": path})
    if isinstance(error, BlockingIOError):
        reason = "too many connections are waiting to be accepted"
    else:
        reason = getattr(error, "strerror", None) or str(error)
    return BridgeError(DAEMON_UNREACHABLE, f"no daemon at {path}: {reason}", {"path": path}, transient=True)
