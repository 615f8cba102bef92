"""The calls of a plugin's tasks, for functions that are `async`."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

from .._core.messages import ABSENT
from .calls import CallOfPlugin


class PluginCall(CallOfPlugin):
    """A call of a plugin's task whose function is `async`. The function is cancelled as its asyncio task."""

    # What programs import it from.
    __module__ = "trestle_bridge.aio"

    async def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Any:
        """Calls a task on behalf of this call, and waits for its result: the task gets this call's caller, and when
        this call ends, that one is cancelled. Cancelled itself, it cancels the call.

        Args:
            options: any JSON; left out, the task gets `{}`.
            timeout: seconds, or `math.inf`: no timeout; None: the task's own or the daemon's.
            session: only a task that this session registered.

        Raises:
            BridgeError: how the call ended.
            ValueError: the timeout is not valid.
        """
        return await asyncio.wrap_future(self._start(task, options, timeout, session))
