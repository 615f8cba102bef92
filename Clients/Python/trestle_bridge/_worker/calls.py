"""What a worker's function is given beside the options."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from typing import Any, Callable, Optional, Protocol

from .._core.errors import CALL_CANCELLED, BridgeError
from .._core.messages import ABSENT, MessageID
from .._core.providing import IncomingCall


class Caller(Protocol):
    """Makes calls of tasks of the bridge, on behalf of a call or of none."""

    def start_call(
        self, task: str, options: Any, *,
        timeout: Optional[float], session: Optional[int], caller: Optional[MessageID],
    ) -> Future[Any]:
        """As `OwnCalls.start`, from any thread."""


class WorkerCall(IncomingCall):
    """A call of a worker's task.

    Attributes:
        deadline: when nobody waits any more, by `time.monotonic()`; None: no such time is known.
    """

    def __init__(
        self, message: dict[str, Any], callback_id: Optional[MessageID],
        report: Callable[[IncomingCall, bytes], None], bridge: Caller,
    ) -> None:
        super().__init__(message, callback_id, report)
        self.deadline = None if self.timeout is None else time.monotonic() + self.timeout
        self._bridge = bridge

    @property
    def id(self) -> Optional[MessageID]:
        """What the daemon calls it; None for a one-way call."""
        return self._id

    def check_cancelled(self) -> None:
        """Ends a function for whose result nobody waits any more.

        Raises:
            BridgeError: `call.cancelled`, where it was cancelled.
        """
        if self.cancelled:
            raise BridgeError(CALL_CANCELLED, f"the call of {self.task} was cancelled", {"started": True})

    def bridge(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Any:
        """Calls a task on behalf of this call, and waits for its result: the task sees this call's caller, and when
        this call ends, that one is cancelled.

        Args:
            timeout: seconds; None: the task's own deadline.
            session: only a task that this session registered.

        Raises:
            BridgeError: how the call ended.
        """
        return self._start(task, options, timeout, session).result()

    async def bridge_async(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Any:
        """`bridge` for functions that are `async`. Cancelled, it cancels the call."""
        return await asyncio.wrap_future(self._start(task, options, timeout, session))

    def _start(
        self, task: str, options: Any, timeout: Optional[float], session: Optional[int],
    ) -> Future[Any]:
        return self._bridge.start_call(task, options, timeout=timeout, session=session, caller=self._id)
