"""The calls of a plugin's tasks: what functions get beside the options."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Callable, Optional

from .._core.incoming import IncomingCall, ProvidedCall
from .._core.messages import ABSENT, MessageID
from .._core.description import Schema
from .._core.stream_places import with_result_readers
from .._core.stream_values import Source
from .._streams.ends import ByteReader, ByteWriter
from .own_streams import begin, end_where_it_fails
from .sending import PluginConnection
from .log import PluginLog
from .streams import PluginStreams


class CallOfPlugin(ProvidedCall):
    """What `PluginCall` and `aio.PluginCall` have in common."""

    def __init__(
        self, message: dict[str, Any], callback_id: Optional[MessageID], report: Callable[[Any, bytes], bool],
        connection: PluginConnection,
    ) -> None:
        super().__init__(message, callback_id, report)
        self._connection = connection

    @property
    def id(self) -> Optional[MessageID]:
        """The daemon's id of the call; None for a one-way call."""
        return self._id

    @property
    def log(self) -> PluginLog:
        """The daemon's log, whose lines show this call."""
        return PluginLog(lambda level, message: self._connection.write_log(level, message, self._id))

    def _start(
        self, task: str, options: Optional[bytes], timeout: Optional[float], session: Optional[int],
    ) -> Future[Any]:
        return self._connection.start_call(task, options, timeout=timeout, session=session, caller=self._id)


class PluginCall(CallOfPlugin, IncomingCall):
    """A call of a plugin's task whose function has a thread of its own."""

    @property
    def _streams(self) -> PluginStreams:
        return PluginStreams(self._connection)

    def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
        result_schema: Optional[Schema] = None,
    ) -> Any:
        """Calls a task on behalf of this call, and waits for its result: the task gets this call's caller, and when
        this call ends, that one is cancelled.

        Args:
            options: any JSON, with a `Stream` in the places where the task takes one; left out, the task gets `{}`.
            timeout: seconds, or `math.inf`: no timeout; None: the task's own or the daemon's.
            session: only a task that this session registered.
            result_schema: where it has the format `trestle-stream`, a `ByteReader` stands in the result.

        Raises:
            BridgeError: how the call ended.
            ValueError: the timeout is not valid.
        """
        future, streams = begin(
            self._streams, self, options, timeout, lambda text, left: self._start(task, text, left, session))
        with streams:
            return with_result_readers(future.result(), result_schema, self.read_stream)

    def submit(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Future[Any]:
        """Begins such a call and does not wait for its end: several may run in parallel. Cancelling the future cancels
        the         call."""
        return end_where_it_fails(*begin(
            self._streams, self, options, timeout, lambda text, left: self._start(task, text, left, session)))

    def make_stream(self, *, type: Optional[str] = None, total_bytes: Optional[int] = None) -> ByteWriter:
        """Makes a stream for this call: its caller reads it, also after the result was sent, which carries the
        stream's name. It ends where the call fails.

        Args:
            type: a media type, for the reader.
            total_bytes: how many bytes there will be, for the reader.

        Raises:
            BridgeError: `quota.exceeded` or `busy`: the caller has too many.
        """
        return self._streams.make_stream(type=type, total_bytes=total_bytes, call=self)

    def send_stream(self, source: Source, *, type: Optional[str] = None, total_bytes: Optional[int] = None) -> str:
        """The same, and writes all of a source to it: bytes, a binary file, or what yields bytes. Goes on when the
        function has returned.

        Returns:
            The stream's name.
        """
        return self._streams.send_stream(source, type=type, total_bytes=total_bytes, call=self)

    def read_stream(self, name: str) -> ByteReader:
        """Reads a stream of this call's options."""
        return self._streams.read_stream(name, call=self)

    def write_stream(self, name: str) -> ByteWriter:
        """Writes to a stream of this call's options, which its reader has made."""
        return self._streams.write_stream(name, call=self)
