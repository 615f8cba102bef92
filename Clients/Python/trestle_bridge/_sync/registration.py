"""A task that a bridge provides, until that is ended."""

from __future__ import annotations

from typing import Callable


class Registration:
    """A task that is provided. Made by `Bridge.register`. A context manager: leaving it ends it. Any thread."""

    def __init__(self, task: str, unregister: Callable[[], None]) -> None:
        self.task = task
        """Its name."""
        self._unregister = unregister

    def close(self) -> None:
        """No longer provides the task; calls that have come already go on. Waits for the daemon's answer. Closing again
        does nothing, nor does closing one whose task was registered again: the later registration holds.

        Raises:
            BridgeError: the error of the daemon.
        """
        self._unregister()

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<trestle_bridge.Registration {self.task}>"
