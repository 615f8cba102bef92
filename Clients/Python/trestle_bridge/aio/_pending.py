"""A call in flight, for the asyncio tasks that wait for it."""

from __future__ import annotations

from typing import Any, AsyncIterator, Callable, Optional

from .._core.call import Call, Outcome, unwrap
from .._core.core import Core
from ._mailbox import Ended, Mailbox
from ._pump import Pump


class Waiter:
    """The sink of a call, at which asyncio tasks wait for its end."""

    def __init__(self, progress_capacity: int = 1) -> None:
        self.mailbox: Mailbox[Any, Outcome] = Mailbox(progress_capacity)
        self._then: Optional[Callable[[], None]] = None

    def progressed(self, value: Any) -> None:
        """Receives an intermediate result."""
        self.mailbox.put(value)

    def ended(self, outcome: Outcome) -> None:
        """Receives the end."""
        self.mailbox.finish(outcome)
        if self._then is not None:
            self._then()

    def when_ended(self, then: Callable[[], None]) -> None:
        """Calls a function when the call ends; immediately if it has ended."""
        self._then = then
        if self.mailbox.has_ended:
            then()

    async def wait(self) -> Any:
        """Waits for the end of the call. Returns its result, or raises its error."""
        while True:
            item = await self.mailbox.take()
            if isinstance(item, Ended):
                return unwrap(item.how)


class PendingCall:
    """A call that was begun with `Bridge.submit`."""

    def __init__(
        self, pump: Pump, core: Core, call: Call, waiter: Waiter, on_progress: Optional[Callable[[Any], None]]
    ) -> None:
        self._pump = pump
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

    async def result(self) -> Any:
        """Waits for the end of the call. Meanwhile, passes progress to `on_progress`. If the waiting asyncio task is
        cancelled, the call continues. To cancel the call as well, for example with `asyncio.wait_for`, use
        `Bridge.call`.

        Raises:
            BridgeError: the error of the call.
        """
        while not isinstance(item := await self._waiter.mailbox.take(), Ended):
            if self._on_progress is not None:
                self._on_progress(item)
        return unwrap(item.how)

    async def progress(self) -> AsyncIterator[Any]:
        """Yields the intermediate results until the call ends. Call `result` afterwards. For one asyncio task, instead
        of `on_progress`. If the reader is too slow, the oldest results are dropped."""
        while not isinstance(item := await self._waiter.mailbox.take(), Ended):
            yield item

    def cancel(self) -> None:
        """Requests the cancellation of the call. Does not wait. `result` then raises `call.cancelled`, unless the call
        was answered before the daemon received the cancel."""
        self._core.calls.cancel(self._call)
        self._pump.kick()

    def abandon(self) -> None:
        """Ends the call immediately in this process, and asks the daemon to cancel it. For a caller that no longer
        waits."""
        self._core.calls.abandon(self._call)
        self._pump.kick()
