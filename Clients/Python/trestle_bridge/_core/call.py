"""One call that this end makes, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Protocol, Union

from .errors import BridgeError
from .output import Chunk
from .timers import Timer


@dataclass(frozen=True)
class Success:
    """A call ended with a result."""

    value: Any


Outcome = Union[Success, BridgeError]


def unwrap(outcome: Outcome) -> Any:
    """The result, or its error raised; a new exception each time, as several waiters may raise it."""
    if isinstance(outcome, Success):
        return outcome.value
    raise outcome.copy()


class CallSink(Protocol):
    """Who made a call. Called on the thread that owns the core; must not block."""

    def progressed(self, value: Any) -> None:
        """An intermediate result; never after the end."""

    def ended(self, outcome: Outcome) -> None:
        """The end; exactly once."""


class Call:
    """One call. It waits for a connection, then it is in flight, then it has ended.

    Invariant: `id` and `chunk` are set exactly while it is in flight; both are None for one that waits.
    """

    __slots__ = ("task", "options", "timeout", "wants_progress", "session", "one_way", "sink",
                 "of_connection", "wants_pipe", "id", "chunk", "made_at", "timer", "last_sequence", "is_cancelled",
                 "has_ended")

    def __init__(
        self,
        task: bytes,
        options: Optional[bytes],
        sink: CallSink,
        *,
        timeout: Optional[float] = None,
        wants_progress: bool = False,
        session: Optional[int] = None,
        one_way: bool = False,
        of_connection: bool = False,
        wants_pipe: bool = False,
    ) -> None:
        self.task = task
        self.options = options
        self.sink = sink
        self.timeout = timeout
        self.wants_progress = wants_progress
        self.session = session
        self.one_way = one_way
        self.of_connection = of_connection
        """Part of what a connection begins with: it is worth nothing over another one."""
        self.wants_pipe = wants_pipe
        """Its result is a `Passed`."""
        self.id: Optional[int] = None
        self.chunk: Optional[Chunk] = None
        self.made_at: Optional[float] = None
        self.timer: Optional[Timer] = None
        self.last_sequence = -1
        self.is_cancelled = False
        self.has_ended = False

    @property
    def name(self) -> str:
        """The task, for error messages."""
        return self.task.decode("utf-8").strip('"')

    @property
    def started(self) -> Optional[bool]:
        """Whether its task may have begun, as far as this end can know: False, or None."""
        return None if self.may_have_begun else False

    @property
    def may_have_begun(self) -> bool:
        """Whether some of its message was written."""
        return self.chunk is not None and self.chunk.has_begun

    @property
    def size_bytes(self) -> int:
        """About what it takes in the queue."""
        return len(self.task) + len(self.options or b"") + 64
