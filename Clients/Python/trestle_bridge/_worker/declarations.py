"""What a worker declares: its tasks, its events, and what it does when the daemon starts or stops it."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Union

from .._core.errors import TASK_NOT_FOUND, BridgeError
from .calls import WorkerCall
from .interceptors import Intercept, Tasks, deciding, names

Function = Callable[[Any, WorkerCall], Any]
"""What does a task: takes the options and the call, returns the result, any JSON, or raises; may be `async`."""

Schema = Union[bool, Mapping[str, Any]]

THREADED_CONCURRENCY = 16
"""Calls of one task at once where its author does not say, since each takes a thread; the daemon has more wait."""


PROTOCOL_VERSION = "1.0"
"""What a worker and the daemon speak; a daemon refuses a worker of another major version."""


@dataclass(frozen=True)
class Handler:
    """A function, and where it runs."""

    function: Callable[[Any, Any], Any]
    on_io_thread: bool = False
    """It answers at once, whatever the tasks are doing; only functions of this package may do so."""
    result_of_none: Any = None
    """What is answered where the function returns None: hooks have nothing to say but that they are done."""
    choose: Optional[Callable[[Any], Handler]] = None
    """Tells by the options which other one it is that answers."""


class Declarations:
    """Everything that decorators said, by the time the worker runs."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        """By task, those of the daemon's own, such as `plugin.start`, among them."""
        self.version: Optional[str] = None
        self.on_session: Optional[Callable[[Any], Any]] = None
        self._tasks: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._launch: dict[str, tuple[dict[str, Any], Function]] = {}
        self._interceptors: dict[str, tuple[dict[str, Any], Tasks, Handler]] = {}
        self._configuration: Optional[Schema] = None
        self._reconfigurable = False

    def add_task(self, name: str, function: Function, about: Mapping[str, Any]) -> None:
        """A task. Of `about`, what is None is left out.

        Raises:
            ValueError: there is one of the name.
        """
        if name.startswith("plugin."):
            raise ValueError(f"{name} cannot be a task of a worker: names that begin with plugin. are the daemon's")
        self._handle(name, function)
        declared = {"name": name, **_said(about)}
        if about.get("timeout") == math.inf:
            # Absent is the daemon's own, null is none.
            declared["timeout"] = None
        self._tasks.append(declared)

    def add_event(self, name: str, summary: str, is_open: bool) -> None:
        """An event that the worker publishes."""
        self._events.append({"name": name, "summary": summary, **({"public": True} if is_open else {})})

    def add_hook(self, task: str, function: Function) -> None:
        """What is done when the daemon calls one of its tasks about workers."""
        self._handle(task, function, result_of_none={})

    def set_configuration(self, schema: Optional[Schema], reconfigurable: bool) -> None:
        """What its section of the daemon's configuration looks like."""
        self._configuration, self._reconfigurable = schema, reconfigurable

    def add_launch_worker(self, name: str, function: Function, about: Mapping[str, Any]) -> None:
        """What is done when the daemon itself starts."""
        self._launch[name] = ({"name": name, **_said(about)}, function)
        self.handlers["plugin.launch"] = Handler(self._launched, result_of_none={})

    def add_interceptor(self, name: str, function: Intercept, tasks: Tasks, about: Mapping[str, Any]) -> None:
        """A function that is asked about calls of these tasks.

        Raises:
            ValueError: there is one of the name.
        """
        if name in self._interceptors:
            raise ValueError(f"there are two interceptors {name}")
        self._interceptors[name] = ({"name": name, **_said(about)}, tasks, Handler(deciding(function)))
        self.handlers["plugin.intercept"] = Handler(_nobody, choose=self._interceptor)

    def _interceptor(self, question: Any) -> Handler:
        name = question.get("interceptor") if isinstance(question, dict) else None
        found = self._interceptors.get(name) if isinstance(name, str) else None
        return found[2] if found else Handler(_nobody)

    def all_handlers(self) -> dict[str, Handler]:
        """The handlers, complete. Where tasks of interceptors come from a function, they are told at the start, and
        when there is another configuration."""
        handlers = dict(self.handlers)
        if any(callable(tasks) for _, tasks, _ in self._interceptors.values()):
            for task in ("plugin.start", "plugin.reconfigure"):
                known = handlers.get(task)
                if known is not None or task == "plugin.start":
                    handlers[task] = Handler(self._telling_tasks(known.function if known else None))
        return handlers

    def _telling_tasks(self, function: Optional[Function]) -> Function:
        if inspect.iscoroutinefunction(function):
            async def run_async(options: Any, call: WorkerCall) -> Any:
                await function(options, call)
                return self._intercepted_tasks()

            return run_async

        def run(options: Any, call: WorkerCall) -> Any:
            if function is not None:
                function(options, call)
            return self._intercepted_tasks()

        return run

    def _intercepted_tasks(self) -> Any:
        return {"interceptors": {name: names(tasks) for name, (_, tasks, _) in self._interceptors.items()}}

    def _launched(self, options: Any, call: WorkerCall) -> Any:
        return self._launch[options["worker"]][1](options, call)

    def _handle(self, task: str, function: Function, result_of_none: Any = None) -> None:
        if task in self.handlers:
            raise ValueError(f"there are two functions for {task}; a worker has one for each task and each hook")
        self.handlers[task] = Handler(function, result_of_none=result_of_none)

    def hello(self) -> dict[str, Any]:
        """The answer to `plugin.hello`."""
        said = {
            "protocol": {"name": "trestle-plugin", "version": PROTOCOL_VERSION},
            "version": self.version, "tasks": self._tasks or None, "events": self._events or None,
            "interceptors": [
                {**about, "tasks": [] if callable(tasks) else names(tasks)}
                for about, tasks, _ in self._interceptors.values()
            ] or None,
            "launchWorkers": [about for about, _ in self._launch.values()] or None,
            "configuration": self._configuration, "reloadable": self._reconfigurable or None,
            "sessions": self.on_session is not None or None,
            # Tasks have threads of their own, so the one that reads is always free to answer.
            "ping": "always",
        }
        return _said(said)


def _nobody(options: Any, call: WorkerCall) -> Any:
    raise BridgeError(TASK_NOT_FOUND, "this worker has no such interceptor")


def _said(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value is not None}
