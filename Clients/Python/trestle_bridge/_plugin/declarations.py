"""The declarations of a plugin: its tasks, its events, and its hooks."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Awaitable, Callable, Iterable, Mapping, Optional, Union

from .._core.description import Schema
from .._core.errors import TASK_NOT_FOUND, BridgeError
from .._core.stream_places import with_readers
from . import aio_calls, wire
from .calls import PluginCall
from .interceptors import Tasks, deciding, names

TaskFunction = Union[Callable[[Any, PluginCall], Any], Callable[[Any, aio_calls.PluginCall], Awaitable[Any]]]
"""The function of a task. It takes the options and the call, and returns the result, any JSON that may contain a
`Stream` at any place, or raises."""

THREADED_CONCURRENCY = 16
"""The default number of parallel calls of a task that uses threads. Further calls wait in the daemon."""


@dataclass(frozen=True)
class Handler:
    """A function that takes options and a call, and the place where it runs."""

    function: Callable[[Any, Any], Any]
    on_io_thread: bool = False
    """Whether the function answers immediately on the I/O thread. Only for functions of this package."""
    result_of_none: Any = None
    """The answer if the function returns None. Hooks have no other result."""
    choose: Optional[Callable[[Any], Handler]] = None
    """Selects the handler for a call by its options; None if this handler answers itself."""

    def resolved(self, options: Any) -> Handler:
        """Returns the handler for these options."""
        return self if self.choose is None else self.choose(options)

    def result_of(self, value: Any) -> Any:
        """Returns the result for the value that the function returned."""
        return self.result_of_none if value is None else value

    @cached_property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return inspect.iscoroutinefunction(self.function)


class Declarations:
    """All declarations of the decorators. Complete when the plugin runs."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        """The handlers by task, including the daemon's own tasks, such as `plugin.start`."""
        self.version: Optional[str] = None
        self.on_session: Optional[Callable[[Any], Any]] = None
        self._tasks: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._launch: dict[str, tuple[dict[str, Any], Handler]] = {}
        self._interceptors: dict[str, tuple[dict[str, Any], Tasks, Handler]] = {}
        self._configuration: Optional[Schema] = None
        self._reloadable = False

    def add_task(self, name: str, function: TaskFunction, about: Mapping[str, Any], *, has_timeout: bool) -> None:
        """Adds a task. Members of `about` that are None are omitted.

        Args:
            has_timeout: whether a call without a timeout gets a default timeout.

        Raises:
            ValueError: the name is already used, or it is reserved for the daemon.
        """
        if name.startswith(wire.PREFIX):
            text = f"{name} cannot be a task of a plugin: names that begin with {wire.PREFIX} are the daemon's"
            raise ValueError(text)
        reading = with_readers(function, about.get("options"), lambda name, call: call.read_stream(name))
        self._handle(name, Handler(reading))
        declared = {"name": name, **_present(about)}
        if not has_timeout:
            # An absent timeout means the daemon's default, null means no timeout.
            declared["timeout"] = None
        self._tasks.append(declared)

    def add_event(self, name: str, summary: str, is_public: bool) -> None:
        """Adds an event that the plugin publishes."""
        self._events.append({"name": name, "summary": summary, **({wire.PUBLIC: True} if is_public else {})})

    def add_hook(self, task: str, function: Callable[[Any, Any], Any]) -> None:
        """Adds a function for one of the tasks that the daemon calls about plugins."""
        self._handle(task, Handler(function, result_of_none={}))

    def set_configuration(self, schema: Optional[Schema], reloadable: bool) -> None:
        """Sets the schema of the plugin's configuration section."""
        self._configuration, self._reloadable = schema, reloadable

    def add_launch_worker(self, name: str, function: Callable[[Any, Any], Any], about: Mapping[str, Any]) -> None:
        """Adds a launch worker, which runs when the daemon starts.

        Raises:
            ValueError: there is already a launch worker with this name.
        """
        if name in self._launch:
            raise ValueError(f"there are two launch workers {name}")
        self._launch[name] = ({"name": name, **_present(about)}, Handler(function, result_of_none={}))
        self.handlers[wire.LAUNCH] = Handler(_nobody, choose=self._launch_worker)

    def add_interceptor(self, name: str, function: Any, tasks: Tasks, about: Mapping[str, Any]) -> None:
        """Adds a function that decides about calls of these tasks.

        Raises:
            ValueError: there is already an interceptor with this name.
        """
        if name in self._interceptors:
            raise ValueError(f"there are two interceptors {name}")
        self._interceptors[name] = ({"name": name, **_present(about)}, tasks, Handler(deciding(function)))
        self.handlers[wire.INTERCEPT] = Handler(_nobody, choose=self._interceptor)

    def _launch_worker(self, options: Any) -> Handler:
        found = self._launch.get(_member(options, wire.LAUNCH_WORKER))
        return found[1] if found else Handler(_nobody)

    def _interceptor(self, question: Any) -> Handler:
        found = self._interceptors.get(_member(question, wire.INTERCEPTOR))
        return found[2] if found else Handler(_nobody)

    def all_handlers(self) -> dict[str, Handler]:
        """Returns all handlers. If a function returns the tasks of an interceptor, the daemon gets them at the start,
        and with each new configuration."""
        handlers = dict(self.handlers)
        if any(callable(tasks) for _, tasks, _ in self._interceptors.values()):
            for task in (wire.START, wire.RECONFIGURE):
                known = handlers.get(task)
                if known is not None or task == wire.START:
                    handlers[task] = Handler(self._naming_tasks(known.function if known else None))
        return handlers

    def _naming_tasks(self, function: Optional[Callable[[Any, Any], Any]]) -> Callable[[Any, Any], Any]:
        if function is not None and inspect.iscoroutinefunction(function):
            async def run_async(options: Any, call: Any) -> Any:
                await function(options, call)
                return self._intercepted_tasks()

            return run_async

        def run(options: Any, call: Any) -> Any:
            if function is not None:
                function(options, call)
            return self._intercepted_tasks()

        return run

    def _intercepted_tasks(self) -> Any:
        return {wire.INTERCEPTORS: {name: names(tasks) for name, (_, tasks, _) in self._interceptors.items()}}

    def _handle(self, task: str, handler: Handler) -> None:
        if task in self.handlers:
            raise ValueError(f"there are two functions for {task}; a plugin has one for each task and each hook")
        self.handlers[task] = handler

    def hello(self) -> dict[str, Any]:
        """Returns the answer to `plugin.hello`."""
        return _present({
            "protocol": {"name": wire.PROTOCOL, "version": wire.PROTOCOL_VERSION},
            "version": self.version, "tasks": self._tasks or None, "events": self._events or None,
            wire.INTERCEPTORS: [
                {**about, "tasks": [] if callable(tasks) else names(tasks)}
                for about, tasks, _ in self._interceptors.values()
            ] or None,
            wire.LAUNCH_WORKERS: [about for about, _ in self._launch.values()] or None,
            "configuration": self._configuration, wire.RELOADABLE: self._reloadable or None,
            wire.SESSIONS: self.on_session is not None or None,
            # Tasks run on their own threads, so the I/O thread can always answer pings.
            wire.PINGS: wire.PINGS_ALWAYS,
        })


def adapted(function: Callable[..., Any], arguments: Callable[[Any], Iterable[Any]]) -> Callable[[Any, Any], Any]:
    """Adapts a hook of the program to a task of the daemon. Returns a function of options and a call, which calls the
    hook with the arguments that `arguments` makes from the options."""
    if inspect.iscoroutinefunction(function):
        async def run_async(options: Any, call: Any) -> Any:
            return await function(*arguments(options))

        return run_async

    def run(options: Any, call: Any) -> Any:
        return function(*arguments(options))

    return run


def _nobody(options: Any, call: Any) -> Any:
    raise BridgeError(TASK_NOT_FOUND, "this plugin has no such function")


def _member(options: Any, name: str) -> str:
    member = options.get(name) if isinstance(options, dict) else None
    return member if isinstance(member, str) else ""


def _present(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value is not None}
