"""The registration of a task that a bridge provides."""

from __future__ import annotations

from typing import Awaitable, Callable


class Registration:
    """The registration of a provided task. Made by `Bridge.register`. An asynchronous context manager: leaving it ends
    the registration."""

    def __init__(self, task: str, unregister: Callable[[], Awaitable[None]]) -> None:
        self.task = task
        """The name of the task."""
        self._unregister = unregister

    async def close(self) -> None:
        """Ends the registration. Calls that have already arrived continue. Waits for the daemon's answer. Does nothing
        if the registration was already closed, or if a later registration of the task has replaced it.

        Raises:
            BridgeError: the error of the daemon.
        """
        await self._unregister()

    async def __aenter__(self) -> Registration:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<trestle_bridge.aio.Registration {self.task}>"
