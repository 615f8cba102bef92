"""Waiting for the calls about an end of a stream, on a thread."""

from __future__ import annotations

import os
import select
import threading
from typing import Any, Protocol, TypeVar, Union, cast

from .._core.streaming import Begun, PipeWait, Steps

T = TypeVar("T")


class Started(Begun, Protocol):
    """A call that was begun."""

    def result(self) -> Any:
        """Waits for its result."""


class EventAlarm:
    """Wakes up a thread that polls."""

    def __init__(self) -> None:
        self._event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        # Nothing rings a number that is another file's by now. Reentrant: a signal handler may close it.
        self._lock = threading.RLock()

    def fileno(self) -> int:
        """What to poll; -1: it is closed."""
        return self._event

    def ring(self) -> None:
        """Wakes the thread up, now or when it polls next."""
        with self._lock:
            if self._event >= 0:
                os.eventfd_write(self._event, 1)

    def quiet(self) -> None:
        """The thread has woken up."""
        try:
            os.eventfd_read(self._event)
        except BlockingIOError:
            pass  # the pipe woke it up

    def close(self) -> None:
        """Nobody polls it any longer."""
        with self._lock:
            event, self._event = self._event, -1
            if event >= 0:
                os.close(event)


def _wait_pipe(wanted: PipeWait[Started]) -> None:
    pipe = wanted.pipe
    if not isinstance(pipe.alarm, EventAlarm):
        pipe.alarm = EventAlarm()
        wanted.call.when_done(pipe.alarm.ring)
    # Who closes the pipe rings an alarm that is there.
    if pipe.is_closed:
        return
    poll = select.poll()
    poll.register(pipe.fileno(), select.POLLIN if wanted.for_bytes else select.POLLOUT)
    poll.register(pipe.alarm.fileno(), select.POLLIN)
    poll.poll()
    pipe.alarm.quiet()


def _answer(wanted: Union[Started, PipeWait[Started], None]) -> Any:
    if wanted is None:
        return None
    if isinstance(wanted, PipeWait):
        return _wait_pipe(wanted)
    return wanted.result()


def wait(steps: Steps[Started, T]) -> T:
    """Goes through the steps, and returns what they end with."""
    try:
        pending = next(steps)
        while True:
            try:
                answer = _answer(pending)
            except BaseException as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(answer)
    except StopIteration as end:
        return cast(T, end.value)
