"""A call in flight, for the threads that wait for it."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterator, Optional

from .._core.call import Call, Outcome, unwrap
from .._core.core import Core
from .iothread import IOThread
from .mailbox import Ended, Mailbox


class Waiter:
    """The sink of a call, at which threads wait for its end."""

    def __init__(self, progress_capacity: int = 1) -> None:
        self.mailbox: Mailbox[Any, Outcome] = Mailbox(progress_capacity)
        self._then: Optional[Callable[[], None]] = None

    def progressed(self, value: Any) -> None:
        """I/O thread: receives an intermediate result."""
        self.mailbox.put(value)

    def ended(self, outcome: Outcome) -> None:
        """I/O thread: receives the end."""
        self.mailbox.finish(outcome)
        if self._then is not None:
            self._then()

    def when_ended(self, then: Callable[[], None]) -> None:
        """Calls a function on the I/O thread when the call ends; immediately if it has ended."""
        self._then = then
        if self.mailbox.has_ended:
            then()

    def wait(self) -> Any:
        """Waits for the end of the call. Returns its result, or raises its error."""
        while True:
            item = self.mailbox.take()
            if isinstance(item, Ended):
                return unwrap(item.how)


class PendingCall:
    """A call that was begun with `Bridge.submit`. May be used from any thread."""

    def __init__(
        self,
        thread: IOThread,
        core: Core,
        call: Call,
        waiter: Waiter,
        on_progress: Optional[Callable[[Any], None]],
    ) -> None:
        self._thread = thread
        self._core = core
        self._call = call
        self._waiter = waiter
        self._on_progress = on_progress

    @property
    def done(self) -> bool:
        """Whether the call has ended."""
        return self._waiter.mailbox.has_ended

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls a function when the call ends. The function must not block. Used by streams."""
        self._waiter.when_ended(then)

    def result(self, timeout: Optional[float] = None) -> Any:
        """Waits for the end of the call. Meanwhile, passes progress to `on_progress`, on this thread.

        Args:
            timeout: the number of seconds to wait; None for no limit. It does not change the deadline of the call.

        Raises:
            BridgeError: the error of the call.
            TimeoutError: the call has not ended. It continues, and `result` may be called again.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            item = self._waiter.mailbox.take(left)
            if isinstance(item, Ended):
                return unwrap(item.how)
            if self._on_progress is not None:
                self._on_progress(item)

    def progress(self) -> Iterator[Any]:
        """Yields the intermediate results until the call ends. Call `result` afterwards. For one thread, instead of
        `on_progress`. If the reader is too slow, the oldest results are dropped."""
        while not isinstance(item := self._waiter.mailbox.take(), Ended):
            yield item

    def cancel(self) -> None:
        """Requests the cancellation of the call. Does not wait. `result` then raises `call.cancelled`, unless the call
        was answered before the daemon received the cancel."""
        self._thread.post(lambda: self._core.calls.cancel(self._call))

    def abandon(self) -> None:
        """Ends the call immediately in this process, and asks the daemon to cancel it. For a caller that no longer
        waits."""
        self._thread.post(lambda: self._core.calls.abandon(self._call))
