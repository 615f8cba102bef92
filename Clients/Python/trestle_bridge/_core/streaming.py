"""What both faces know of streams: the parts of the messages, and the calls about one end."""

from __future__ import annotations

import base64
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Callable, Generic, Literal, Optional, Protocol, TypeVar, Union

from . import wire
from .errors import BUSY, INTERNAL, STREAM_CLOSED, STREAM_INVALID, TASK_NOT_FOUND, BridgeError
from .incoming import ProvidedCall
from .jsontext import encode
from .pipes import Passed, Pipe, is_attached


class Begun(Protocol):
    """A call that was begun. Its face waits for it."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""

    def when_done(self, then: Callable[[], None]) -> None:
        """Has a function called when it has ended, on any thread; one that has ended calls it immediately."""


Pending = TypeVar("Pending", bound=Begun)

T = TypeVar("T")


@dataclass(frozen=True)
class PipeWait(Generic[Pending]):
    """Waits until a pipe has bytes, or room, or a call has ended, or the pipe is closed here."""

    pipe: Pipe
    call: Pending
    for_bytes: bool


Steps = Generator[Union[Pending, PipeWait[Pending], None], Any, T]
"""What is done with an end, between the waiting: yields a call, and goes on with its result or its error. Or it yields
a wait for a pipe, or None, where much has been done without waiting. A face waits for each."""

_REASON_BYTES = 600
"""The longest reason of an end, as JSON: its message fits into what any daemon takes, which is 1 KiB or more."""

_NO_PIPE = frozenset((STREAM_INVALID, BUSY, TASK_NOT_FOUND, INTERNAL))
"""How the daemon says that an end cannot become a pipe: its bytes go in messages."""


def wants_pipe(task: str, options: dict[str, Any]) -> bool:
    """Whether a call about a stream asks for the end of a pipe: its result is a `Passed`."""
    return task == wire.STREAM_ATTACH or options.get(wire.ATTACH) is True


Begin = Callable[[str, dict[str, Any], Optional[ProvidedCall]], Pending]
"""Begins a call of a daemon's task: the task, its options, and the call that this end works on and does it for."""


class End(Generic[Pending]):
    """One end of a stream, and the calls of the daemon's tasks about it."""

    def __init__(
            self, begin: Begin[Pending], name: str, side: Literal["write", "read"],
            call: Optional[ProvidedCall]) -> None:
        self.name = name
        self._side = side
        self._begin = begin
        # The end is taken for this call, with its first use.
        self._call = call

    def _begin_call(self, task: str, **more: Any) -> Pending:
        call, self._call = self._call, None
        return self._begin(task, {wire.STREAM: self.name, **more}, call)

    def attach(self) -> Pending:
        """Asks for the end of a pipe. Where the daemon refuses, the next use takes the end."""
        return self._begin(wire.STREAM_ATTACH, {wire.STREAM: self.name, wire.SIDE: self._side}, self._call)

    def attached(self, attaching: Pending) -> Steps[Pending, Optional[Pipe]]:
        """Waits for the end of the pipe. None: the bytes go in messages."""
        try:
            passed: Passed = yield attaching
        except BridgeError as error:
            if error.code in _NO_PIPE:
                return None
            raise
        return self.passed(passed.pipe)

    def passed(self, pipe: Optional[Pipe]) -> Pipe:
        """The pipe that the daemon has passed. None: it did not come, and the stream is of no use."""
        if pipe is None:
            failure = BridgeError(STREAM_CLOSED, "the system passed no descriptor for the stream")
            self.leave(failure)
            raise failure
        return pipe

    def with_pipe(self, pipe: Optional[Pipe], begin: Callable[[], Pending]) -> tuple[Pipe, Pending]:
        """The pipe with which the stream was made, and the call that ends with the stream, which begins now."""
        pipe = self.passed(pipe)
        try:
            return pipe, begin()
        except BridgeError as error:
            pipe.close()
            try:
                self.leave(error)
            except BridgeError:
                pass  # it cannot be sent either; the stream ends with the session
            raise

    def read(self) -> Pending:
        """Asks for the next bytes; of a pipe, for the end of the stream."""
        return self._begin_call(wire.STREAM_READ)

    def write(self, data: memoryview) -> Pending:
        """Sends bytes; none, of a pipe, to learn that the reader has left."""
        return self._begin_call(wire.STREAM_WRITE, **{wire.BASE64: base64.b64encode(data)})

    def complete(self, count: int) -> Pending:
        """The writer has written so many bytes, and that was all; or so many came through the reader's pipe."""
        return self._begin_call(wire.STREAM_CLOSE, **{wire.SIDE: self._side, wire.BYTES: count})

    def leave(self, error: Optional[BaseException] = None) -> Pending:
        """Ends the stream before it is complete; the other side gets the reason, where there is one."""
        return self._begin_call(wire.STREAM_CLOSE, **{wire.SIDE: self._side}, **_reason(error))


def making(
    side: Literal["write", "read"], type: Optional[str] = None, total_bytes: Optional[int] = None, *, attach: bool,
) -> dict[str, Any]:
    """The options of a call that makes a stream.

    Args:
        attach: this end is to be a pipe, where the daemon can pass one.
    """
    options: dict[str, Any] = {wire.SIDE: side}
    if attach:
        options[wire.ATTACH] = True
    if type is not None:
        options[wire.TYPE] = type
    if total_bytes is not None:
        options[wire.BYTES] = total_bytes
    return options


@dataclass(frozen=True)
class MadeStream:
    """A stream that the daemon has made.

    Attributes:
        room: how many bytes may be unanswered.
        is_attached: its end is a pipe.
        pipe: that; None: the system could not pass it.
    """

    name: str
    room: int
    is_attached: bool
    pipe: Optional[Pipe]


def made_stream(answer: Union[dict[str, Any], Passed]) -> MadeStream:
    """What the answer to `bridge.stream.new` says."""
    result, pipe = (answer.result, answer.pipe) if isinstance(answer, Passed) else (answer, None)
    return MadeStream(result[wire.STREAM], result[wire.ROOM], is_attached(result), pipe)


def options_text(options: dict[str, Any]) -> bytes:
    """The JSON of the options of a call about a stream; bytes in base 64, in which nothing is escaped, as they are."""
    if (data := options.get(wire.BASE64)) is None:
        return encode(options)
    rest = encode({name: value for name, value in options.items() if name != wire.BASE64})
    return b'%s,"%s":"%s"}' % (rest[:-1], wire.BASE64.encode(), data)


def chunk(answer: dict[str, Any], count: int) -> Optional[bytes]:
    """The bytes of an answer to a read; None: the stream is complete.

    Args:
        count: how many bytes have come before.

    Raises:
        BridgeError: `stream.invalid`, where other bytes than the writer's have come.
    """
    if answer.get(wire.END) is not True:
        return base64.b64decode(answer[wire.BASE64])
    if answer[wire.BYTES] != count:
        raise BridgeError(STREAM_INVALID, f"{count} of the {answer[wire.BYTES]} bytes of the stream came")
    return None


def _reason(error: Optional[BaseException]) -> dict[str, Any]:
    if error is None:
        return {}
    if isinstance(error, BridgeError):
        return {wire.ERROR: {"code": error.code, "message": _short(error.message)}}
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return {wire.ERROR: {"code": "internal", "message": _short(text)}}


def _short(text: str) -> str:
    """The text, or its beginning and "…" where its JSON is longer than a reason may be."""
    short = text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    count = len(text)
    while (length := len(encode(short))) > _REASON_BYTES:
        count = count * _REASON_BYTES // length
        short = text[:count] + "…"
    return short


def check_receipt(receipt: dict[str, Any]) -> None:
    """Raises the error of a stream that its reader does not have whole."""
    if receipt["complete"] is True:
        return
    error = receipt.get(wire.ERROR)
    text = f"the {receipt['by']} ended the stream after {receipt[wire.BYTES]} bytes, before it was complete"
    raise BridgeError(
        STREAM_CLOSED, f"{text}: {error['message']}" if error else text,
        {"by": receipt["by"], "bytes": receipt[wire.BYTES], "error": error},
        transient=bool(error and error.get("transient")))
