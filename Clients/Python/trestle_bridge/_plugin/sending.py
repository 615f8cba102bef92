"""The part of a plugin's connection that calls and streams use."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Optional, Protocol

from .._core.messages import MessageID
from .log import Level


class PluginConnection(Protocol):
    """The part of the connection that calls and streams use. Any thread."""

    @property
    def message_bytes(self) -> int:
        """The maximum length of a message to the daemon."""

    def start_call(
        self, task: str, options: Optional[bytes], *,
        timeout: Optional[float], session: Optional[int], caller: Optional[MessageID], wants_pipe: bool = False,
    ) -> Future[Any]:
        """Makes a call; see `OwnCalls.start`."""

    def write_log(self, level: Level, message: str, call_id: Optional[MessageID]) -> None:
        """Writes a line to the log."""
