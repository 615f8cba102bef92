"""What a plugin declares: its tasks, its events, and what it does when the daemon starts or stops it."""

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
"""What does a task: takes the options and the call, and returns the result, any JSON with a `Stream` here and there, or
raises."""

THREADED_CONCURRENCY = 16
"""Parallel calls of one task where its author does not say, since each takes a thread; the daemon has more wait."""


@dataclass(frozen=True)
class Handler:
    """A function that takes options and a call, and where it runs."""

    function: Callable[[Any, Any], Any]
    on_io_thread: bool = False
    """It answers immediately, whatever the tasks are doing; only functions of this package may do so."""
    result_of_none: Any = None
    """What is answered where the function returns None: hooks have nothing to say but that they are done."""
    choose: Optional[Callable[[Any], Handler]] = None
    """Chooses, by the options, the one that answers."""

    def resolved(self, options: Any) -> Handler:
        """The one that answers to these options."""
        return self if self.choose is None else self.choose(options)

    def result_of(self, value: Any) -> Any:
        """The result, of what the function returned."""
        return self.result_of_none if value is None else value

    @cached_property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return inspect.iscoroutinefunction(self.function)


class Declarations:
    """Everything that decorators said, by the time the plugin runs."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        """By task, those of the daemon's own, such as `plugin.start`, among them."""
        self.version: Optional[str] = None
        self.on_session: Optional[Callable[[Any], Any]] = None
        self._tasks: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._launch: dict[str, tuple[dict[str, Any], Handler]] = {}
        self._interceptors: dict[str, tuple[dict[str, Any], Tasks, Handler]] = {}
        self._configuration: Optional[Schema] = None
        self._reloadable = False

    def add_task(self, name: str, function: TaskFunction, about: Mapping[str, Any], *, has_timeout: bool) -> None:
        """A task. Of `about`, what is None is left out.

        Args:
            has_timeout: False: its calls have none, unless they bring one.

        Raises:
            ValueError: there is one of the name.
        """
        if name.startswith(wire.PREFIX):
            text = f"{name} cannot be a task of a plugin: names that begin with {wire.PREFIX} are the daemon's"
            raise ValueError(text)
        reading = with_readers(function, about.get("options"), lambda name, call: call.read_stream(name))
        self._handle(name, Handler(reading))
        declared = {"name": name, **_present(about)}
        if not has_timeout:
            # Absent is the daemon's own, null is none.
            declared["timeout"] = None
        self._tasks.append(declared)

    def add_event(self, name: str, summary: str, is_public: bool) -> None:
        """An event that the plugin publishes."""
        self._events.append({"name": name, "summary": summary, **({wire.PUBLIC: True} if is_public else {})})

    def add_hook(self, task: str, function: Callable[[Any, Any], Any]) -> None:
        """What is done when the daemon calls one of its tasks about plugins."""
        self._handle(task, Handler(function, result_of_none={}))

    def set_configuration(self, schema: Optional[Schema], reloadable: bool) -> None:
        """What its section of the daemon's configuration looks like."""
        self._configuration, self._reloadable = schema, reloadable

    def add_launch_worker(self, name: str, function: Callable[[Any, Any], Any], about: Mapping[str, Any]) -> None:
        """What is done when the daemon itself starts.

        Raises:
            ValueError: there is one of the name.
        """
        if name in self._launch:
            raise ValueError(f"there are two launch workers {name}")
        self._launch[name] = ({"name": name, **_present(about)}, Handler(function, result_of_none={}))
        self.handlers[wire.LAUNCH] = Handler(_nobody, choose=self._launch_worker)

    def add_interceptor(self, name: str, function: Any, tasks: Tasks, about: Mapping[str, Any]) -> None:
        """A function that is asked about calls of these tasks.

        Raises:
            ValueError: there is one of the name.
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
        """The handlers, complete. Where tasks of interceptors come from a function, the daemon gets them at the start,
        and when there is another configuration."""
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
        """The answer to `plugin.hello`."""
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
            # Tasks have threads of their own, so the one that reads is always free to answer.
            wire.PINGS: wire.PINGS_ALWAYS,
        })


def adapted(function: Callable[..., Any], arguments: Callable[[Any], Iterable[Any]]) -> Callable[[Any, Any], Any]:
    """A hook of a program as one of the daemon's tasks: a function of options and a call, which calls the hook with
    what `arguments` makes of the options."""
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
