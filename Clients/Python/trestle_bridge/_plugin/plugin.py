"""`Plugin`: a plugin of the Trestle daemon that runs as a separate process.

    from trestle_bridge import Plugin

    plugin = Plugin()

    @plugin.task("greet", summary="Greets somebody by name.")
    def greet(options, call):
        return f"Hello, {options['who']}"

    plugin.run()

With the manifest `greet.plugin.toml` beside the program, containing `command = ["./greet.py"]`, the daemon starts it.
"""

from __future__ import annotations

import os
import socket
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Callable, Literal, Optional, Sequence

from .._core.errors import SESSION_CLOSED, BridgeError, started_data
from .._core.description import Schema
from .._core.incoming import refuse_on_event_loop
from .._core.jsontext import encode
from .._core.messages import ABSENT
from .._core.settings import Limits
from .._core.stream_places import with_result_readers
from .._streams.sending import Sending
from . import wire
from .connection import Connection
from .declarations import adapted
from .declaring import Hook, PluginDeclarations, check_takes
from .launch import LaunchOptions
from .log import Level, PluginLog
from .own_streams import begin, begin_one_way, end_where_it_fails
from .streams import PluginStreams


class Plugin(PluginDeclarations):
    """The declarations of a plugin, and its connection to the daemon while it runs. A program has one.

    Args:
        version: the plugin's version, if the manifest contains none.
        limits: the limits. `max_running_calls` is the number of calls that run in parallel, and the number of calls of
            each user that wait. Further calls are answered with `busy`.
    """

    # The module from which programs import it.
    __module__ = "trestle_bridge"

    def __init__(self, version: Optional[str] = None, *, limits: Limits = Limits(max_running_calls=256)) -> None:
        super().__init__(version)
        self._limits = limits
        self._connection: Optional[Connection] = None
        self._state_directory: Optional[Path] = None
        self._launch = LaunchOptions()
        self._on_start: Optional[Callable[[], Any]] = None
        self.log = PluginLog(self._write_log)
        """The daemon's log."""

    # Before it runs

    def on_start(self, function: Hook) -> Hook:
        """Declares a function without arguments that runs before the first call. `state_directory` and `launch` are set
        before it runs."""
        check_takes(function, 0, "no arguments")
        if self._on_start is not None:
            raise ValueError("there are two functions of the start; a plugin has one")
        self._on_start = function
        return function

    def launch_worker(
        self, name: str, *, phase: Literal["beforeListening", "afterListening"] = "afterListening",
        after: Optional[Sequence[str]] = None, required: Optional[bool] = None,
    ) -> Callable[[Hook], Hook]:
        """Declares a function without arguments as a launch worker, which runs once when the daemon starts.

        Args:
            phase: whether it runs before or after the daemon begins to accept connections.
            after: the launch workers that must end before it begins.
            required: whether the daemon's start fails if this worker fails; None for the daemon's default.
        """

        def declare(function: Hook) -> Hook:
            check_takes(function, 0, "no arguments")
            about = {"phase": phase, "after": after, "required": required}
            self._declared.add_launch_worker(name, adapted(function, self._take_start), about)
            return function

        return declare

    def run(self) -> None:
        """Runs the plugin until the daemon stops it. Call it on the program's main thread. If the daemon disconnects,
        the process ends with status 1.

        Raises:
            SystemExit: the daemon has disconnected, or did not start this process.
            RuntimeError: the plugin has already run.
        """
        if self._connection is not None:
            raise RuntimeError("a plugin runs once")
        self._connection = Connection(_daemon_socket(), self._complete(), self._limits)
        if not self._connection.serve():
            sys.exit(1)

    # While it runs, from any thread

    @property
    def state_directory(self) -> Path:
        """The plugin's directory for persistent data. Available after the daemon has started the plugin.

        Raises:
            RuntimeError: the daemon has not started the plugin yet.
        """
        if self._state_directory is None:
            raise RuntimeError("the state directory is known when the daemon has started the plugin: see on_start")
        return self._state_directory

    @property
    def launch(self) -> LaunchOptions:
        """The daemon's command line and environment; empty before the daemon has started the plugin."""
        return self._launch

    def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
        result_schema: Optional[Schema] = None,
    ) -> Any:
        """Calls a task in the plugin's own name, and waits for its result. To call on behalf of an incoming call, use
        the `call` of that call.

        Args:
            options: any JSON, with a `Stream` where the task expects one. If omitted, the task gets `{}`.
            timeout: seconds, or `math.inf` for no timeout; None for the default of the task or of the daemon.
            session: the session that must execute the call: only a task that it registered is called.
            result_schema: where it has the format `trestle-stream`, the result contains a `ByteReader`.

        Raises:
            BridgeError: the error of the call; `session.closed` if the plugin does not run.
            ValueError: the timeout is not valid.
            RuntimeError: called on the thread of an event loop, which must not wait. Use `submit` there.
        """
        refuse_on_event_loop("Plugin.call", "use await asyncio.wrap_future(plugin.submit(…))")
        future, streams = self._begin(task, options, timeout, session)
        with streams:
            return with_result_readers(future.result(), result_schema, self._streams().read_stream)

    def submit(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Future[Any]:
        """Begins a call like `call`, without waiting for its end. Cancelling the future cancels the call. In an `async`
        function, use `await asyncio.wrap_future(future)`. With a `Stream`, it waits until the daemon has made the
        stream.

        Raises:
            BridgeError, ValueError: the call was not sent.
            RuntimeError: the options contain a `Stream`, and this is the thread of an event loop.
        """
        return end_where_it_fails(*self._begin(task, options, timeout, session))

    def _begin(
        self, task: str, options: Any, timeout: Optional[float], session: Optional[int],
    ) -> tuple[Future[Any], Sending]:
        connection = self._connected()

        def start(text: Optional[bytes], left: Optional[float]) -> Future[Any]:
            return connection.start_call(task, text, timeout=left, session=session, caller=None)

        return begin(self._streams(), None, options, timeout, start)

    def _streams(self) -> PluginStreams:
        return PluginStreams(self._connected())

    def notify(self, task: str, options: Any = ABSENT, *, session: Optional[int] = None) -> None:
        """Makes a one-way call in the plugin's own name, without a result. Does not wait, except for the daemon to make
        a `Stream`.

        Raises:
            BridgeError: the call was not sent, as with `publish`.
            RuntimeError: as with `submit`.
        """
        connection = self._connected()
        begin_one_way(self._streams(), options, lambda text: connection.send_one_way(task, text, session))

    def publish(
        self, event: str, data: Any = None, *, retain: bool = False, to: Optional[Sequence[int]] = None,
        direct: bool = False,
    ) -> None:
        """Publishes an event. Does not wait.

        Args:
            data: any JSON.
            retain: whether the daemon stores the event for later subscribers. It replaces the previous event of its
                name, and is stored until `forget` is called or the plugin is unloaded. A plugin may have 256 such
                events, with 1 MiB in total. An event beyond these limits is not sent, and the daemon logs a warning.
                Not together with `to`.
            to: the sessions that receive the event; None for all subscribers.
            direct: whether these sessions receive the event even without a subscription. Only together with `to`.

        Raises:
            BridgeError: nothing was sent, because the data has no JSON or is too long, or too many bytes wait for the
                daemon.
            ValueError: `direct` without `to`, or `retain` with `to`.
        """
        if direct and to is None:
            raise ValueError("direct is for the sessions that to names: add to, or leave out direct")
        if retain and to is not None:
            raise ValueError("what is retained goes to all subscribers: leave out to or retain")
        options: dict[str, Any] = {"event": event, "data": data}
        if to is not None:
            options[wire.RECEIVERS] = list(to)
        if direct:
            options[wire.DIRECT] = True
        if retain:
            options[wire.RETAIN] = True
        self._connected().send_one_way(wire.PUBLISH, encode(options))

    def forget(self, event: str) -> None:
        """Removes the retained event of this name from the daemon. Does not wait.

        Raises:
            BridgeError: nothing was sent, as with `publish`.
        """
        self._connected().send_one_way(wire.PUBLISH, encode({"event": event, wire.FORGET: True}))

    def metric(
        self, name: str, value: float, *, kind: Literal["gauge", "counter"] = "gauge",
        unit: Optional[str] = None, help: Optional[str] = None,
    ) -> None:
        """Sets a metric for operators. The value of a counter is the count since the start of this process.

        Raises:
            BridgeError: nothing was sent, as with `publish`.
        """
        metric = {"name": name, "kind": kind, "unit": unit, "help": help, "value": value}
        self._connected().send_one_way(wire.METRICS, encode({
            "metrics": [{key: value for key, value in metric.items() if value is not None}]
        }))

    # Private

    def _complete(self) -> Any:
        """Returns the declarations, completed with the start hook."""
        on_start = self._on_start or (lambda: None)
        self._declared.add_hook(wire.START, adapted(on_start, self._take_start))
        return self._declared

    def _take_start(self, options: Any) -> tuple[()]:
        if wire.STATE_DIRECTORY in options:
            self._state_directory = Path(options[wire.STATE_DIRECTORY])
        self._launch = LaunchOptions.from_json(options.get(wire.LAUNCH_OPTIONS))
        return ()

    def _write_log(self, level: Level, message: str) -> None:
        if self._connection is None:
            print(message, file=sys.stderr)
        else:
            self._connection.write_log(level, message)

    def _connected(self) -> Connection:
        if self._connection is None:
            raise BridgeError(SESSION_CLOSED, "the plugin does not run yet", started_data(False))
        return self._connection


def _daemon_socket() -> socket.socket:
    """Returns the socket that the daemon gave this process.

    Raises:
        SystemExit: no daemon has started this process.
    """
    descriptor = os.environ.get(wire.DESCRIPTOR, "")
    try:
        connected = socket.socket(fileno=int(descriptor))
    except (ValueError, OSError) as error:
        sys.exit(
            f"{sys.argv[0]} is a plugin, and no daemon has started it ({wire.DESCRIPTOR} is {descriptor!r}: {error}): "
            "write a manifest NAME.plugin.toml that names it, and put both into the daemon's plugin directory"
        )
    # Child processes of the plugin must not inherit it.
    os.set_inheritable(connected.fileno(), False)
    # A printed line reaches the log immediately, not when the plugin ends.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    return connected
