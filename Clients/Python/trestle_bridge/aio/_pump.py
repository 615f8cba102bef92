"""Drives a core from an event loop: watches its socket and its timers."""

from __future__ import annotations

import asyncio
import logging
from typing import Optional

from .._core.core import Core
from .._core.driver import Driver
from .._core.state import State

log = logging.getLogger("trestle_bridge")


class Pump:
    """Steps the driver when the socket is ready, when a timer is due, and soon after a request of a caller."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._driver = Driver(core, self._forget)
        self._loop = asyncio.get_running_loop()
        # The watched descriptor, -1 if there is none, and whether it is watched for output too.
        self._watched = -1
        self._watches_write = False
        self._timer: Optional[asyncio.TimerHandle] = None
        self._timer_at: Optional[float] = None
        self._soon: Optional[asyncio.Handle] = None

    def kick(self) -> None:
        """Schedules a step of the driver for the next turn of the loop, so that several requests are sent together."""
        if self._soon is None and self._core.state is not State.CLOSED:
            self._soon = self._loop.call_soon(self._step)

    def abandon(self) -> None:
        """Closes the socket and stops the timers, in any state."""
        self._driver.close()
        self._stop()

    def _step(self, readable: bool = False) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        try:
            self._driver.step(readable)
        except Exception as error:
            log.exception("the client library failed")
            self._core.fail(error)
            self._driver.close()
        self._watch()

    def _watch(self) -> None:
        descriptor = self._driver.descriptor
        if descriptor != self._watched:
            self._loop.add_reader(descriptor, self._step, True)
            self._watched, self._watches_write = descriptor, False
        if descriptor >= 0 and self._driver.wants_write != self._watches_write:
            self._watches_write = self._driver.wants_write
            if self._watches_write:
                self._loop.add_writer(descriptor, self._step)
            else:
                self._loop.remove_writer(descriptor)
        if self._core.state is State.CLOSED:
            self._stop()
        elif self._driver.next_at != self._timer_at:
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = self._driver.next_at
        self._timer = None
        if self._timer_at is not None:
            left = max(0.0, self._timer_at - self._core.timers.clock())
            self._timer = self._loop.call_later(left, self._timer_due)

    def _timer_due(self) -> None:
        self._timer_at = None
        self._step()

    def _forget(self, descriptor: int) -> None:
        """Stops watching a socket that the driver is about to close."""
        if descriptor == self._watched:
            if not self._loop.is_closed():
                self._loop.remove_reader(descriptor)
                self._loop.remove_writer(descriptor)
            self._watched, self._watches_write = -1, False

    def _stop(self) -> None:
        for handle in (self._timer, self._soon):
            if handle is not None:
                handle.cancel()
        self._timer = self._soon = None
