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
        """Waits for the result."""


class EventAlarm:
    """Wakes up a thread that polls."""

    def __init__(self) -> None:
        self._event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        # Prevents a write to a closed descriptor, whose number may belong to another file. Reentrant: a signal handler
        # may close it.
        self._lock = threading.RLock()

    def fileno(self) -> int:
        """Returns the descriptor to poll; -1 if it is closed."""
        return self._event

    def ring(self) -> None:
        """Wakes up the thread, now or at its next poll."""
        with self._lock:
            if self._event >= 0:
                os.eventfd_write(self._event, 1)

    def quiet(self) -> None:
        """Resets the alarm after the thread has woken up."""
        try:
            os.eventfd_read(self._event)
        except BlockingIOError:
            pass  # the pipe woke it up

    def close(self) -> None:
        """Closes the descriptor, which is not polled any more."""
        with self._lock:
            event, self._event = self._event, -1
            if event >= 0:
                os.close(event)


def _wait_pipe(wanted: PipeWait[Started]) -> None:
    pipe = wanted.pipe
    if not isinstance(pipe.alarm, EventAlarm):
        pipe.alarm = EventAlarm()
        wanted.call.when_done(pipe.alarm.ring)
    # If the pipe is closed from now on, `close` rings the alarm, which is already set.
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
    """Runs the steps, and returns their result."""
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
