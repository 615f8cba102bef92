"""`Plugin`: a plugin of the Trestle daemon that is a process of its own.

    from trestle_bridge import Plugin

    plugin = Plugin()

    @plugin.task("greet", summary="Greets somebody by name.")
    def greet(options, call):
        return f"Hello, {options['who']}"

    plugin.run()

A manifest beside the program, `greet.plugin.toml` with `command = ["./greet.py"]`, has the daemon start it.
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
    """What a plugin declares, and its connection to the daemon while it runs. A program has one.

    Args:
        version: the plugin's version, where the manifest has none.
        limits: bounds; so many calls as `max_running_calls` run in parallel, and as many of each user wait. Further
            ones             are answered `busy`.
    """

    # What programs import it from.
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
        """Declares what is done before the first call, without arguments. `state_directory` and `launch` are known by
        then."""
        check_takes(function, 0, "no arguments")
        if self._on_start is not None:
            raise ValueError("there are two functions of the start; a plugin has one")
        self._on_start = function
        return function

    def launch_worker(
        self, name: str, *, phase: Literal["beforeListening", "afterListening"] = "afterListening",
        after: Optional[Sequence[str]] = None, required: Optional[bool] = None,
    ) -> Callable[[Hook], Hook]:
        """Declares a function without arguments to be a launch worker, which runs once, when the daemon starts.

        Args:
            phase: whether it runs before or after the daemon takes connections.
            after: launch workers that end before it begins.
            required: whether the daemon does not start where it fails; None: the daemon's default.
        """

        def declare(function: Hook) -> Hook:
            check_takes(function, 0, "no arguments")
            about = {"phase": phase, "after": after, "required": required}
            self._declared.add_launch_worker(name, adapted(function, self._take_start), about)
            return function

        return declare

    def run(self) -> None:
        """Runs the plugin until the daemon has it stop. On the program's main thread; where the daemon is gone, the
        process ends with status 1.

        Raises:
            SystemExit: the daemon is gone, or did not start this process.
            RuntimeError: the plugin has run already.
        """
        if self._connection is not None:
            raise RuntimeError("a plugin runs once")
        self._connection = Connection(_daemon_socket(), self._complete(), self._limits)
        if not self._connection.serve():
            sys.exit(1)

    # While it runs, from any thread

    @property
    def state_directory(self) -> Path:
        """The plugin's directory for what outlives it; known from the start on.

        Raises:
            RuntimeError: the daemon has not started the plugin yet.
        """
        if self._state_directory is None:
            raise RuntimeError("the state directory is known when the daemon has started the plugin: see on_start")
        return self._state_directory

    @property
    def launch(self) -> LaunchOptions:
        """How the daemon was launched; empty before the daemon has started the plugin."""
        return self._launch

    def call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
        result_schema: Optional[Schema] = None,
    ) -> Any:
        """Calls a task in the plugin's own name, and waits for its result. On behalf of a call, use the call's `call`.

        Args:
            options: any JSON, with a `Stream` in the places where the task takes one; left out, the task gets `{}`.
            timeout: seconds, or `math.inf`: no timeout; None: the task's own or the daemon's.
            session: only a task that this session registered.
            result_schema: where it has the format `trestle-stream`, a `ByteReader` stands in the result.

        Raises:
            BridgeError: how the call ended; `session.closed` where the plugin does not run.
            ValueError: the timeout is not valid.
            RuntimeError: this is the thread of an event loop, which must not wait: use `submit` there.
        """
        refuse_on_event_loop("Plugin.call", "use await asyncio.wrap_future(plugin.submit(…))")
        future, streams = self._begin(task, options, timeout, session)
        with streams:
            return with_result_readers(future.result(), result_schema, self._streams().read_stream)

    def submit(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Future[Any]:
        """Begins such a call and does not wait for its end. Cancelling the future cancels the call; in a function that
        is `async`, `await asyncio.wrap_future(future)`. With a `Stream` it waits until the daemon has made it.

        Raises:
            BridgeError, ValueError: nothing was sent.
            RuntimeError: there is a `Stream` in the options, and this is the thread of an event loop.
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
        """Makes a one-way call in the plugin's own name, whose end is not reported. Does not wait, but for the
        daemon to make a `Stream`.

        Raises:
            BridgeError: nothing was sent, as with `publish`.
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
            retain: the daemon keeps it for later subscribers, in the place of the one before of its name, until it is
                forgotten or the plugin is unloaded. A plugin has 256 such events and 1 MiB at most; one that is too
                much is not sent, with a warning in the daemon's log. Not together with `to`.
            to: only to these sessions; None: to all who subscribed.
            direct: to these sessions whether they subscribed or not; only together with `to`.

        Raises:
            BridgeError: nothing was sent: the data have no JSON, they are too long, or too much waits to be read.
            ValueError: `direct` without `to`, or `retain` with it.
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
        """Has the daemon keep the event that was retained under this name no longer. Does not wait.

        Raises:
            BridgeError: nothing was sent, as with `publish`.
        """
        self._connected().send_one_way(wire.PUBLISH, encode({"event": event, wire.FORGET: True}))

    def metric(
        self, name: str, value: float, *, kind: Literal["gauge", "counter"] = "gauge",
        unit: Optional[str] = None, help: Optional[str] = None,
    ) -> None:
        """Sets a metric for operators; of a counter, to what this process has counted since it started.

        Raises:
            BridgeError: nothing was sent, as with `publish`.
        """
        metric = {"name": name, "kind": kind, "unit": unit, "help": help, "value": value}
        self._connected().send_one_way(wire.METRICS, encode({
            "metrics": [{key: value for key, value in metric.items() if value is not None}]
        }))

    # The inside

    def _complete(self) -> Any:
        """The declarations, with what the plugin itself does at the start."""
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
    """The socket that the daemon gave this process.

    Raises:
        SystemExit: no daemon has started it.
    """
    descriptor = os.environ.get(wire.DESCRIPTOR, "")
    try:
        connected = socket.socket(fileno=int(descriptor))
    except (ValueError, OSError) as error:
        sys.exit(
            f"{sys.argv[0]} is a plugin, and no daemon has started it ({wire.DESCRIPTOR} is {descriptor!r}: {error}): "
            "write a manifest NAME.plugin.toml that names it, and put both into the daemon's plugin directory"
        )
    # Processes that the plugin starts do not get it.
    os.set_inheritable(connected.fileno(), False)
    # A line is in the log when it is printed, not when the plugin ends.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    return connected
