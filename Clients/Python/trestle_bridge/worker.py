"""Workers: plugins of the Trestle daemon that are processes of their own.

    from trestle_bridge import worker

    @worker.task("greet", summary="Greets somebody by name.")
    def greet(options, call):
        return f"Hello, {options['who']}"

    worker.run()

A manifest beside the program, `greet.plugin.toml` with `command = ["./greet.py"]`, has the daemon start it. Functions
of this module are those of one `Worker`, the process's own.
"""

from __future__ import annotations

import inspect
import math
import os
import socket
import sys
from concurrent.futures import Future
from typing import Any, Callable, Literal, Mapping, Optional, Sequence, TypeVar

from ._core.errors import SESSION_CLOSED, BridgeError, started_data
from ._core.messages import ABSENT
from ._core.settings import Limits
from ._worker.calls import WorkerCall
from ._worker.connection import Connection
from ._worker.declarations import THREADED_CONCURRENCY, Declarations, Function, Schema
from ._worker.interceptors import PASS, Decision, InterceptedCall, Intercept, Tasks, answer, redirect, rewrite

__all__ = [
    "Decision", "Function", "Intercept", "InterceptedCall", "Level", "PASS", "Schema", "Tasks", "Worker", "WorkerCall",
    "answer", "bridge", "configure", "event", "hook", "interceptor", "launch", "log", "metric", "publish", "redirect",
    "rewrite", "run", "session", "start", "start_call", "stop", "task", "version",
]

F = TypeVar("F", bound=Callable[..., Any])
Level = Literal["error", "warning", "notice", "info", "debug"]

_LONGEST_LOG = 16_384
"""Characters of one line of the log."""


class Worker:
    """What a worker declares, and its connection while it runs.

    Functions take the options and a `WorkerCall`. One that is `async` runs on the worker's event loop, any other on a
    thread of its own, so several may run at once. What a function returns is the result; a `BridgeError` that it
    raises is the caller's error, any other exception `internal`, with its text, and its traceback in the log.
    """

    def __init__(self, limits: Limits = Limits(running_calls=256)) -> None:
        self._declared = Declarations()
        self._limits = limits
        self._connection: Optional[Connection] = None

    # Before it runs

    def version(self, version: str) -> None:
        """Says the plugin's version, where the manifest does not."""
        self._declared.version = version

    def task(
        self, name: str, *, summary: Optional[str] = None, permission: Optional[str] = None,
        open: Optional[bool] = None, option_verbs: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None, concurrency: Optional[int] = None, private: Optional[bool] = None,
        option_bytes: Optional[int] = None,
        options: Optional[Schema] = None, result: Optional[Schema] = None, progress: Optional[Schema] = None,
    ) -> Callable[[F], F]:
        """Declares a function to be a task. Where the manifest lists tasks, that is what the daemon goes by.

        Args:
            summary: one sentence for a person; None: the first line of the function's docstring.
            permission: what a caller needs.
            open: whether members of the group `trestle` may call it where no rule says anything.
            option_verbs: of options that name what not every caller may name, the policy's verb for it: `{"namespace":
                "store"}`. The daemon asks before the call comes here.
            timeout: seconds that a call may take whose caller does not say; None: the daemon's own; `math.inf`: as long
                as it likes.
            concurrency: how many calls may run at once, while more wait in the daemon; None: 16 of a function that
                takes threads, any number of one that is `async`.
            private: whether options and results are shown to no operator.
            option_bytes: how long the options of a call may be, in bytes of JSON; None: as long as a message.
                The daemon refuses longer ones.
            options: a JSON Schema; what does not fit never comes here.
            result: a JSON Schema, for readers.
            progress: the same.
        """

        def declare(function: F) -> F:
            is_async = inspect.iscoroutinefunction(function)
            first_line = (inspect.getdoc(function) or "").partition("\n")[0]
            self._declared.add_task(name, function, {
                "summary": summary or first_line or name, "permission": permission,
                "public": open, "optionPermissions": dict(option_verbs) if option_verbs else None,
                "timeout": timeout if timeout in (None, math.inf) else max(1, round(timeout * 1000)),
                "concurrency": concurrency or (None if is_async else THREADED_CONCURRENCY),
                "private": private, "optionBytes": option_bytes, "options": options, "result": result,
                "progress": progress,
            })
            return function

        return declare

    def interceptor(
        self, name: str, *, tasks: Tasks, summary: Optional[str] = None,
        failure: Optional[Literal["refuse", "pass"]] = None,
    ) -> Callable[[F], F]:
        """Declares a function to be asked about calls of tasks before these get them. It takes an `InterceptedCall` and
        returns `PASS`, `rewrite(options)`, `redirect(task)` or `answer(result)`; a `BridgeError` that it raises refuses
        the call. Where the manifest lists interceptors, that is what the daemon goes by.

        Args:
            tasks: names of tasks, or beginnings of names with a `*` behind them; or a function that returns them, asked
                when the worker has started, and when it has taken another configuration.
            summary: one sentence for operators; None: the first line of the function's docstring.
            failure: what becomes of a call when this fails, by another exception or with its process: `refuse`, it ends
                with the failure (as where it is not said), or `pass`, it goes on without.
        """

        def declare(function: F) -> F:
            first_line = (inspect.getdoc(function) or "").partition("\n")[0]
            about = {"summary": summary or first_line or name, "onFailure": failure}
            self._declared.add_interceptor(name, function, tasks, about)
            return function

        return declare

    def event(self, name: str, summary: str, *, open: bool = False) -> None:
        """Declares an event that the worker publishes.

        Args:
            open: whether members of the group `trestle` get it where no rule says anything.
        """
        self._declared.add_event(name, summary, open)

    def configure(self, schema: Optional[Schema] = None, *, reconfigurable: bool = False) -> Callable[[F], F]:
        """Declares a function to be given the plugin's section of the configuration, before the start. It raises
        `BridgeError("configuration.invalid", …, {"path", "expected", "got"})` where it cannot go by it.

        Args:
            schema: a JSON Schema of the section.
            reconfigurable: whether the function may be given another section while the worker is at work. Whether a
                section would do is then asked with the task `plugin.check`: see `hook`.
        """

        def declare(function: F) -> F:
            self._declared.set_configuration(schema, reconfigurable)
            self._declared.add_hook("plugin.configure", function)
            if reconfigurable:
                self._declared.add_hook("plugin.reconfigure", function)
            return function

        return declare

    def hook(self, task: str) -> Callable[[F], F]:
        """Declares a function to answer one of the daemon's calls about the worker itself, such as `plugin.start`;
        None is `{}`."""

        def declare(function: F) -> F:
            self._declared.add_hook(task, function)
            return function

        return declare

    def start(self, function: F) -> F:
        """Declares what is done before the first call. The options have `stateDirectory`, and `launch`."""
        return self.hook("plugin.start")(function)

    def stop(self, function: F) -> F:
        """Declares what is done at the end: no call follows."""
        return self.hook("plugin.stop")(function)

    def session(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Declares a function to be told `{"change", "caller"}` when something happens to a session. It runs on one
        thread, in order."""
        self._declared.on_session = function
        return function

    def launch(
        self, name: str, *, phase: Literal["beforeListening", "afterListening"] = "afterListening",
        after: Optional[Sequence[str]] = None, required: Optional[bool] = None,
    ) -> Callable[[F], F]:
        """Declares a function to be a launch worker, which is run once, when the daemon starts."""

        def declare(function: F) -> F:
            about = {"phase": phase, "after": after, "required": required}
            self._declared.add_launch_worker(name, function, about)
            return function

        return declare

    def run(self) -> None:
        """Works until the daemon has it stop. Where the daemon is gone, the process ends with status 1.

        Raises:
            SystemExit: so it is, or no daemon has started this process.
        """
        descriptor = os.environ.get("TRESTLE_PLUGIN_FD", "")
        try:
            connected = socket.socket(fileno=int(descriptor))
        except (ValueError, OSError) as error:
            sys.exit(
                f"{sys.argv[0]} is a worker, and no daemon has started it (TRESTLE_PLUGIN_FD is {descriptor!r}: {error}): "
                "write a manifest NAME.plugin.toml that names it, and put both into the daemon's plugin directory"
            )
        # What the worker starts is none of it.
        os.set_inheritable(connected.fileno(), False)
        # A line is in the log when it is printed, not when the worker ends.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(line_buffering=True, errors="backslashreplace")
        self._connection = Connection(connected, self._declared, self._limits)
        if not self._connection.serve():
            sys.exit(1)

    # While it runs, from any thread

    def bridge(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Any:
        """Calls a task in the plugin's own name, and waits for its result; see `WorkerCall.bridge`."""
        return self.start_call(task, options, timeout=timeout, session=session).result()

    def start_call(
        self, task: str, options: Any = ABSENT, *, timeout: Optional[float] = None, session: Optional[int] = None,
    ) -> Future[Any]:
        """Begins such a call. To cancel the future cancels the call."""
        return self._connected().start_call(task, options, timeout=timeout, session=session, caller=None)

    def publish(
        self, event: str, data: Any = None, *, sessions: Optional[Sequence[int]] = None, unasked: bool = False,
    ) -> None:
        """Publishes an event. Does not wait.

        Args:
            sessions: only to these; None: to all who subscribed.
            unasked: to these sessions whether they subscribed or not.

        Raises:
            BridgeError: nothing was sent: the data have no JSON, it is too long, or too much waits to be read.
        """
        options: dict[str, Any] = {"event": event, "data": data}
        if sessions is not None:
            options["sessions"] = list(sessions)
        if unasked:
            options["direct"] = True
        self._connected().notify("plugin.publish", options)

    def log(self, message: str, level: Level = "notice", call: Optional[WorkerCall] = None) -> None:
        """Writes a line to the daemon's log; before the worker runs, to standard error. A line that the daemon is too
        slow to read is lost."""
        if self._connection is None:
            return print(message, file=sys.stderr)
        message = message.encode("utf-8", "backslashreplace").decode("utf-8")
        options: dict[str, Any] = {"level": level, "message": message[:_LONGEST_LOG]}
        if call is not None and call.id is not None:
            options["call"] = call.id
        try:
            self._connection.notify("plugin.log", options)
        except BridgeError:
            pass

    def metric(
        self, name: str, value: float, *, kind: Literal["gauge", "counter"] = "gauge",
        unit: Optional[str] = None, help: Optional[str] = None,
    ) -> None:
        """Sets a metric for operators; of a counter, to what this process has counted since it started."""
        metric = {"name": name, "kind": kind, "unit": unit, "help": help, "value": value}
        self._connected().notify("plugin.metrics", {
            "metrics": [{key: said for key, said in metric.items() if said is not None}]
        })

    def _connected(self) -> Connection:
        if self._connection is None:
            raise BridgeError(SESSION_CLOSED, "the worker does not run yet", started_data(False))
        return self._connection


_own = Worker()
version, task, event, configure, hook = _own.version, _own.task, _own.event, _own.configure, _own.hook
interceptor = _own.interceptor
start, stop, session, launch, run = _own.start, _own.stop, _own.session, _own.launch, _own.run
bridge, start_call, publish, log, metric = _own.bridge, _own.start_call, _own.publish, _own.log, _own.metric
