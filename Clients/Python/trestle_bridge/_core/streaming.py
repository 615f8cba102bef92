"""The part of streams that both interfaces share: the parts of the messages, and the calls about one end."""

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
    """A call that was begun. Its interface waits for it."""

    @property
    def done(self) -> bool:
        """Whether the call has ended."""

    def when_done(self, then: Callable[[], None]) -> None:
        """Calls a function when the call ends, on any thread; immediately if it has ended."""


Pending = TypeVar("Pending", bound=Begun)

T = TypeVar("T")


@dataclass(frozen=True)
class PipeWait(Generic[Pending]):
    """A wait until a pipe has bytes (or room), a call has ended, or this process has closed the pipe."""

    pipe: Pipe
    call: Pending
    for_bytes: bool


Steps = Generator[Union[Pending, PipeWait[Pending], None], Any, T]
"""A generator with the work between waits. It yields a call, and continues with its result or its error. It yields a
`PipeWait` to wait for a pipe. It yields None after much work without a wait. The interface waits for each."""

_REASON_BYTES = 600
"""The maximum length of a reason as JSON. Its message fits into the limit of any daemon, which is at least 1 KiB."""

_NO_PIPE = frozenset((STREAM_INVALID, BUSY, TASK_NOT_FOUND, INTERNAL))
"""The codes with which the daemon refuses a pipe for an end. Its bytes are then sent in messages."""


def wants_pipe(task: str, options: dict[str, Any]) -> bool:
    """Whether a call about a stream requests the end of a pipe. Its result is then a `Passed`."""
    return task == wire.STREAM_ATTACH or options.get(wire.ATTACH) is True


Begin = Callable[[str, dict[str, Any], Optional[ProvidedCall]], Pending]
"""Begins a call of a daemon's task, with the task, its options, and the incoming call for which it is made."""


class End(Generic[Pending]):
    """One end of a stream, and the calls to the daemon about it."""

    def __init__(
            self, begin: Begin[Pending], name: str, side: Literal["write", "read"],
            call: Optional[ProvidedCall]) -> None:
        self.name = name
        self._side = side
        self._begin = begin
        # The first use of the end takes it for this call.
        self._call = call

    def _begin_call(self, task: str, **more: Any) -> Pending:
        call, self._call = self._call, None
        return self._begin(task, {wire.STREAM: self.name, **more}, call)

    def attach(self) -> Pending:
        """Requests the end of a pipe. If the daemon refuses, the next use takes the end."""
        return self._begin(wire.STREAM_ATTACH, {wire.STREAM: self.name, wire.SIDE: self._side}, self._call)

    def attached(self, attaching: Pending) -> Steps[Pending, Optional[Pipe]]:
        """Waits for the end of the pipe. Returns None if the bytes must be sent in messages."""
        try:
            passed: Passed = yield attaching
        except BridgeError as error:
            if error.code in _NO_PIPE:
                return None
            raise
        return self.passed(passed.pipe)

    def passed(self, pipe: Optional[Pipe]) -> Pipe:
        """Returns the pipe that the daemon has passed. If it is None, ends the stream, which cannot be used, and
        raises."""
        if pipe is None:
            failure = BridgeError(STREAM_CLOSED, "the system passed no descriptor for the stream")
            self.leave(failure)
            raise failure
        return pipe

    def with_pipe(self, pipe: Optional[Pipe], begin: Callable[[], Pending]) -> tuple[Pipe, Pending]:
        """Begins the call that ends with the stream. Returns the pipe with which the stream was made, and that call."""
        pipe = self.passed(pipe)
        try:
            return pipe, begin()
        except BridgeError as error:
            pipe.close()
            try:
                self.leave(error)
            except BridgeError:
                pass  # this cannot be sent either; the stream ends with the session
            raise

    def read(self) -> Pending:
        """Requests the next bytes; with a pipe, the end of the stream."""
        return self._begin_call(wire.STREAM_READ)

    def write(self, data: memoryview) -> Pending:
        """Sends bytes. With a pipe, sends no bytes: the answer reports that the reader has closed its end."""
        return self._begin_call(wire.STREAM_WRITE, **{wire.BASE64: base64.b64encode(data)})

    def complete(self, count: int) -> Pending:
        """Reports the total number of bytes: those that the writer wrote, or those that the reader's pipe received."""
        return self._begin_call(wire.STREAM_CLOSE, **{wire.SIDE: self._side, wire.BYTES: count})

    def leave(self, error: Optional[BaseException] = None) -> Pending:
        """Ends the stream before it is complete. The other side gets the reason, if there is one."""
        return self._begin_call(wire.STREAM_CLOSE, **{wire.SIDE: self._side}, **_reason(error))


def making(
    side: Literal["write", "read"], type: Optional[str] = None, total_bytes: Optional[int] = None, *, attach: bool,
) -> dict[str, Any]:
    """Returns the options of a call that makes a stream.

    Args:
        attach: whether to request a pipe for this end, if the daemon can pass one.
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
        room: the number of bytes that may be unanswered.
        is_attached: whether the end is a pipe.
        pipe: the pipe; None if there is none, or if the system could not pass it.
    """

    name: str
    room: int
    is_attached: bool
    pipe: Optional[Pipe]


def made_stream(answer: Union[dict[str, Any], Passed]) -> MadeStream:
    """Reads the answer to `bridge.stream.new`."""
    result, pipe = (answer.result, answer.pipe) if isinstance(answer, Passed) else (answer, None)
    return MadeStream(result[wire.STREAM], result[wire.ROOM], is_attached(result), pipe)


def options_text(options: dict[str, Any]) -> bytes:
    """Returns the JSON of the options of a call about a stream. Inserts base64 text directly: it needs no escapes."""
    if (data := options.get(wire.BASE64)) is None:
        return encode(options)
    rest = encode({name: value for name, value in options.items() if name != wire.BASE64})
    return b'%s,"%s":"%s"}' % (rest[:-1], wire.BASE64.encode(), data)


def chunk(answer: dict[str, Any], count: int) -> Optional[bytes]:
    """Returns the bytes in the answer to a read; None if the stream is complete.

    Args:
        count: the number of bytes that arrived before.

    Raises:
        BridgeError: `stream.invalid` if that number differs from the writer's number.
    """
    if answer.get(wire.END) is not True:
        return base64.b64decode(answer[wire.BASE64])
    if answer[wire.BYTES] != count:
        raise BridgeError(STREAM_INVALID, f"{count} of the {answer[wire.BYTES]} bytes of the stream were received")
    return None


def _reason(error: Optional[BaseException]) -> dict[str, Any]:
    if error is None:
        return {}
    if isinstance(error, BridgeError):
        return {wire.ERROR: {"code": error.code, "message": _short(error.message)}}
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return {wire.ERROR: {"code": "internal", "message": _short(text)}}


def _short(text: str) -> str:
    """Returns the text, or its beginning and "…" if its JSON is too long for a reason."""
    short = text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    count = len(text)
    while (length := len(encode(short))) > _REASON_BYTES:
        count = count * _REASON_BYTES // length
        short = text[:count] + "…"
    return short


def check_receipt(receipt: dict[str, Any]) -> None:
    """Raises an error if the reader has not received the complete stream."""
    if receipt["complete"] is True:
        return
    error = receipt.get(wire.ERROR)
    text = f"the {receipt['by']} ended the stream after {receipt[wire.BYTES]} bytes, before it was complete"
    raise BridgeError(
        STREAM_CLOSED, f"{text}: {error['message']}" if error else text,
        {"by": receipt["by"], "bytes": receipt[wire.BYTES], "error": error},
        transient=bool(error and error.get("transient")))
