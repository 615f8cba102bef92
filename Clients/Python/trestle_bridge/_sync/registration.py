"""The registration of a task that a bridge provides."""

from __future__ import annotations

from typing import Callable


class Registration:
    """The registration of a provided task. Made by `Bridge.register`. A context manager: leaving it ends the
    registration. Any thread."""

    def __init__(self, task: str, unregister: Callable[[], None]) -> None:
        self.task = task
        """The name of the task."""
        self._unregister = unregister

    def close(self) -> None:
        """Ends the registration. Calls that have already arrived continue. Waits for the daemon's answer. Does nothing
        if the registration was already closed, or if a later registration of the task has replaced it.

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
