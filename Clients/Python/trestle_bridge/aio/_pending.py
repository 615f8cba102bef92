"""A call in flight, as the task that made it sees it."""

from __future__ import annotations

from typing import Any, AsyncIterator, Callable, Optional

from .._core.call import Call, Outcome, unwrap
from .._core.core import Core
from ._mailbox import Ended, Mailbox
from ._pump import Pump


class Waiter:
    """The sink of a call, and where tasks wait for it."""

    def __init__(self, progress_capacity: int = 1) -> None:
        self.mailbox: Mailbox[Any, Outcome] = Mailbox(progress_capacity)
        self._then: Optional[Callable[[], None]] = None

    def progressed(self, value: Any) -> None:
        """An intermediate result."""
        self.mailbox.put(value)

    def ended(self, outcome: Outcome) -> None:
        """The end."""
        self.mailbox.finish(outcome)
        if self._then is not None:
            self._then()

    def when_ended(self, then: Callable[[], None]) -> None:
        """Has a function called when the end has come; immediately, where it has."""
        self._then = then
        if self.mailbox.has_ended:
            then()

    async def wait(self) -> Any:
        """Waits for the end: the result, or its error raised."""
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
        """Has a function called when the call has ended, for streams. It must not block."""
        self._waiter.when_ended(then)

    async def result(self) -> Any:
        """Waits for the end of the call. Progress is handed to `on_progress` meanwhile. The call goes on
        where the waiting task is cancelled; for `asyncio.wait_for` with a call that shall end too, use
        `Bridge.call`.

        Raises:
            BridgeError: how the call ended.
        """
        while not isinstance(item := await self._waiter.mailbox.take(), Ended):
            if self._on_progress is not None:
                self._on_progress(item)
        return unwrap(item.how)

    async def progress(self) -> AsyncIterator[Any]:
        """The intermediate results, until the call ends; `result` then has the end. For one task, instead of
        `on_progress`. Of those that are not taken, the oldest are dropped."""
        while not isinstance(item := await self._waiter.mailbox.take(), Ended):
            yield item

    def cancel(self) -> None:
        """Asks for the end of the call. Does not wait: `result` raises `call.cancelled`, unless the call was
        answered before the daemon read the cancel."""
        self._core.calls.cancel(self._call)
        self._pump.kick()

    def abandon(self) -> None:
        """Ends the call immediately, on this side, and has the daemon cancel it. For a caller that no longer
        waits."""
        self._core.calls.abandon(self._call)
        self._pump.kick()
