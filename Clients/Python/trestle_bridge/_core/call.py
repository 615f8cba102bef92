"""One call that this client makes, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Protocol, Union

from .errors import BridgeError
from .output import Chunk
from .timers import Timer


@dataclass(frozen=True)
class Success:
    """The outcome of a call that succeeded."""

    value: Any


Outcome = Union[Success, BridgeError]


def unwrap(outcome: Outcome) -> Any:
    """Returns the result, or raises the error as a new exception each time, because several waiters may raise it."""
    if isinstance(outcome, Success):
        return outcome.value
    raise outcome.copy()


class CallSink(Protocol):
    """The receiver of a call's progress and end. Called on the thread that owns the core; must not block."""

    def progressed(self, value: Any) -> None:
        """Receives an intermediate result; never called after the end."""

    def ended(self, outcome: Outcome) -> None:
        """Receives the end; called exactly once."""


class Call:
    """One call. It waits for a connection, is then in flight, and then ends.

    Invariant: `id` and `chunk` are None while the call waits, and set while it is in flight.
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
        """Whether the call belongs to one connection and must not be sent over another one."""
        self.wants_pipe = wants_pipe
        """Whether the result is a `Passed`."""
        self.id: Optional[int] = None
        self.chunk: Optional[Chunk] = None
        self.made_at: Optional[float] = None
        self.timer: Optional[Timer] = None
        self.last_sequence = -1
        self.is_cancelled = False
        self.has_ended = False

    @property
    def name(self) -> str:
        """The name of the task, for error messages."""
        return self.task.decode("utf-8").strip('"')

    @property
    def started(self) -> Optional[bool]:
        """False if the task cannot have begun; None if this client cannot determine it."""
        return None if self.may_have_begun else False

    @property
    def may_have_begun(self) -> bool:
        """Whether a part of the message was written."""
        return self.chunk is not None and self.chunk.has_begun

    @property
    def size_bytes(self) -> int:
        """The approximate number of bytes in the queue."""
        return len(self.task) + len(self.options or b"") + 64
