"""A task that a bridge provides, until that is ended."""

from __future__ import annotations

from typing import Awaitable, Callable


class Registration:
    """A task that is provided. Made by `Bridge.register`. An asynchronous context manager: leaving it ends it."""

    def __init__(self, task: str, unregister: Callable[[], Awaitable[None]]) -> None:
        self.task = task
        """Its name."""
        self._unregister = unregister

    async def close(self) -> None:
        """No longer provides the task; calls that have come already go on. Waits for the daemon's answer. Closing again
        does nothing, nor does closing one whose task was registered again: the later registration holds.

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
