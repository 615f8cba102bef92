"""A call in flight, as the thread that made it sees it."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterator, Optional

from .._core.call import Call, Outcome, unwrap
from .._core.core import Core
from .iothread import IOThread
from .mailbox import Ended, Mailbox


class Waiter:
    """The sink of a call, and where threads wait for it."""

    def __init__(self, progress_capacity: int = 1) -> None:
        self.mailbox: Mailbox[Any, Outcome] = Mailbox(progress_capacity)
        self._then: Optional[Callable[[], None]] = None

    def progressed(self, value: Any) -> None:
        """I/O thread: an intermediate result."""
        self.mailbox.put(value)

    def ended(self, outcome: Outcome) -> None:
        """I/O thread: the end."""
        self.mailbox.finish(outcome)
        if self._then is not None:
            self._then()

    def when_ended(self, then: Callable[[], None]) -> None:
        """Has a function called on the I/O thread when the end has come; immediately, where it has."""
        self._then = then
        if self.mailbox.has_ended:
            then()

    def wait(self) -> Any:
        """Waits for the end: the result, or its error raised."""
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
        """Has a function called when the call has ended, for streams. It must not block."""
        self._waiter.when_ended(then)

    def result(self, timeout: Optional[float] = None) -> Any:
        """Waits for the end of the call. Progress is handed to `on_progress` meanwhile, on this thread.

        Args:
            timeout: seconds to wait here; None: until the call ends. The call's own deadline is another
                matter.

        Raises:
            BridgeError: how the call ended.
            TimeoutError: the call has not ended; it goes on, and may be waited for again.
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
        """The intermediate results, until the call ends; `result` then has the end. For one thread, instead of
        `on_progress`. Of those that are not taken, the oldest are dropped."""
        while not isinstance(item := self._waiter.mailbox.take(), Ended):
            yield item

    def cancel(self) -> None:
        """Asks for the end of the call. Does not wait: `result` raises `call.cancelled`, unless the call was
        answered before the daemon read the cancel."""
        self._thread.post(lambda: self._core.calls.cancel(self._call))

    def abandon(self) -> None:
        """Ends the call immediately, on this side, and has the daemon cancel it. For a caller that no longer
        waits."""
        self._thread.post(lambda: self._core.calls.abandon(self._call))
