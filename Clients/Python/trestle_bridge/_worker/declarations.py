"""What a worker declares: its tasks, its events, and what it does when the daemon starts or stops it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Union

from .calls import WorkerCall

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

    def add_event(self, name: str, summary: str) -> None:
        """An event that the worker publishes."""
        self._events.append({"name": name, "summary": summary})

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

    def _launched(self, options: Any, call: WorkerCall) -> Any:
        return self._launch[options["worker"]][1](options, call)

    def _handle(self, task: str, function: Function, result_of_none: Any = None) -> None:
        if task in self.handlers:
            raise ValueError(f"there are two functions for {task}; a worker has one for each task and each hook")
        self.handlers[task] = Handler(function, result_of_none=result_of_none)

    def hello(self) -> dict[str, Any]:
        """The answer to `plugin.hello`."""
        said = {
            "protocol": {"name": "trestle-worker", "version": PROTOCOL_VERSION},
            "version": self.version, "tasks": self._tasks or None, "events": self._events or None,
            "launchWorkers": [about for about, _ in self._launch.values()] or None,
            "configuration": self._configuration, "reconfigurable": self._reconfigurable or None,
            "sessions": self.on_session is not None or None,
            # Tasks have threads of their own, so the one that reads is always free to answer.
            "ping": "always",
        }
        return _said(said)


def _said(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value is not None}
