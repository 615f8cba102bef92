"""The thread that owns a core: it reads, writes, and runs the commands of other threads."""

from __future__ import annotations

import logging
import math
import os
import queue
import select
import socket
import threading
from typing import Callable, Optional

from .._core.core import Core
from .._core.driver import Driver
from .._core.state import State

log = logging.getLogger("trestle_bridge")

Command = Callable[[], None]

_MAX_COMMANDS = 1000
"""The maximum number of commands that run before the socket is checked again."""


class IOThread:
    """Runs until its core is closed.

    A posted command runs exactly once: on the thread, or on the caller's thread if the I/O thread has ended. In the
    second case the core is closed, and every call ends immediately.
    """

    def __init__(self, driver: Driver) -> None:
        self._process = os.getpid()
        self._driver = driver
        self._core: Core = driver.core
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._wake_out, self._wake_in = socket.socketpair()
        self._wake_out.setblocking(False)
        self._wake_in.setblocking(False)
        self._has_ended = False
        # A daemon thread, so that a program that forgets to close its bridge can end.
        self._thread = threading.Thread(target=self._run, name="trestle-bridge", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def post(self, command: Command) -> None:
        """Runs a command on the thread, in the order of posting.

        Raises:
            RuntimeError: this is a forked child of the process that made the thread.
        """
        if self.is_in_child:
            raise RuntimeError("a bridge does not survive a fork: connect again in the child process")
        self._commands.put(command)
        if self._has_ended:
            self._run_commands()
        else:
            self._wake()

    def join(self, timeout: float) -> None:
        """Waits until the thread has ended, unless this is the thread itself."""
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    @property
    def is_in_child(self) -> bool:
        """Whether this process was forked from the one that made the thread."""
        return os.getpid() != self._process

    def abandon(self) -> None:
        """Closes the descriptors in a forked child, which has copies of them but not the thread."""
        self._has_ended = True
        self._driver.close()
        self._wake_out.close()
        self._wake_in.close()

    def _wake(self) -> None:
        try:
            self._wake_out.send(b"\0")
        except OSError:
            pass  # it is already awake, or it has ended

    def _run(self) -> None:
        try:
            while self._core.state is not State.CLOSED:
                self._turn()
        except Exception as error:
            log.exception("the client library failed")
            self._core.fail(error)
        finally:
            self._driver.close()
            self._has_ended = True
            self._run_commands()
            self._wake_out.close()
            self._wake_in.close()

    def _turn(self) -> None:
        driver = self._driver
        driver.step(self._wait())
        # Bounded, so that messages of the daemon are read even if this program is busy.
        self._run_commands(_MAX_COMMANDS)
        # Writes the messages that the commands have queued.
        driver.step()

    def _wait(self) -> bool:
        """Waits until there is work. Returns whether the socket is readable."""
        if not self._commands.empty():
            milliseconds = 0
        elif (at := self._driver.next_at) is None:
            milliseconds = -1
        else:
            milliseconds = max(0, math.ceil((at - self._core.timers.clock()) * 1000))
        poll = select.poll()
        poll.register(self._wake_in, select.POLLIN)
        descriptor = self._driver.descriptor
        if descriptor >= 0:
            poll.register(descriptor, select.POLLIN | (select.POLLOUT if self._driver.wants_write else 0))
        # The maximum for poll is 2**31 - 1; an early wake-up is harmless.
        ready = dict(poll.poll(min(milliseconds, 0x7FFFFFFF)))
        if self._wake_in.fileno() in ready:
            try:
                self._wake_in.recv(4096)
            except BlockingIOError:
                pass
        return bool(ready.get(descriptor, 0) & ~select.POLLOUT)

    def _run_commands(self, most: Optional[int] = None) -> None:
        count = 0
        while most is None or count < most:
            count += 1
            try:
                command = self._commands.get_nowait()
            except queue.Empty:
                return
            command()
