"""The calls of a plugin's tasks, which functions get together with the options."""

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
    """The common base of `PluginCall` and `aio.PluginCall`."""

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
        """The daemon's log. Its lines show this call."""
        return PluginLog(lambda level, message: self._connection.write_log(level, message, self._id))

    def _start(
        self, task: str, options: Optional[bytes], timeout: Optional[float], session: Optional[int],
    ) -> Future[Any]:
        return self._connection.start_call(task, options, timeout=timeout, session=session, caller=self._id)


class PluginCall(CallOfPlugin, IncomingCall):
    """A call of a plugin's task whose function has its own thread."""

    @property
    def _streams(self) -> PluginStreams:
        return PluginStreams(self._connection)

    def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
        result_schema: Optional[Schema] = None,
    ) -> Any:
        """Calls a task on behalf of this call, and waits for its result. The task gets this call's caller. When this
        call ends, the new call is cancelled.

        Args:
            options: any JSON, with a `Stream` where the task expects one. If omitted, the task gets `{}`.
            timeout: seconds, or `math.inf` for no timeout; None for the default of the task or of the daemon.
            session: the session that must execute the call: only a task that it registered is called.
            result_schema: where it has the format `trestle-stream`, the result contains a `ByteReader`.

        Raises:
            BridgeError: the error of the call.
            ValueError: the timeout is not valid.
        """
        future, streams = begin(
            self._streams, self, options, timeout, lambda text, left: self._start(task, text, left, session))
        with streams:
            return with_result_readers(future.result(), result_schema, self.read_stream)

    def submit(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Future[Any]:
        """Begins a call like `call`, without waiting for its end. Several calls may run in parallel. Cancelling the
        future cancels the call."""
        return end_where_it_fails(*begin(
            self._streams, self, options, timeout, lambda text, left: self._start(task, text, left, session)))

    def make_stream(self, *, type: Optional[str] = None, total_bytes: Optional[int] = None) -> ByteWriter:
        """Makes a stream for this call, which the caller of this call reads. Return the stream's name in the result.
        The caller can read the stream also after the result was sent. If the call fails, the stream ends.

        Args:
            type: a media type, for the reader.
            total_bytes: the total number of bytes, for the reader.

        Raises:
            BridgeError: `quota.exceeded` or `busy` if the caller has too many streams.
        """
        return self._streams.make_stream(type=type, total_bytes=total_bytes, call=self)

    def send_stream(self, source: Source, *, type: Optional[str] = None, total_bytes: Optional[int] = None) -> str:
        """Makes a stream for this call and writes the whole source to it: bytes, a binary file, or an iterable of
        bytes. Continues after the function has returned.

        Returns:
            The stream's name.
        """
        return self._streams.send_stream(source, type=type, total_bytes=total_bytes, call=self)

    def read_stream(self, name: str) -> ByteReader:
        """Returns the reader's end of a stream in this call's options."""
        return self._streams.read_stream(name, call=self)

    def write_stream(self, name: str) -> ByteWriter:
        """Returns the writer's end of a stream in this call's options, which its reader made."""
        return self._streams.write_stream(name, call=self)
