"""The decorators with which a plugin declares its functions before it runs."""

from __future__ import annotations

import inspect
import math
from typing import Any, Awaitable, Callable, Iterable, Literal, Mapping, Optional, TypeVar, Union

from .._core.description import Schema
from .._core.incoming import Caller
from .._core.messages import milliseconds
from .._core.settings import check_timeout
from . import wire
from .declarations import THREADED_CONCURRENCY, Declarations, TaskFunction, adapted
from .interceptors import Intercept, Tasks

SessionChange = Literal["opened", "closed", "background", "foreground"]
"""A change of a session. Further values may be added."""

SaveSessions = Callable[[list[int]], Union[Mapping[int, Any], Awaitable[Mapping[int, Any]]]]
RestoreSessions = Callable[[dict[int, Any]], Union[Iterable[int], None, Awaitable[Optional[Iterable[int]]]]]

Task = TypeVar("Task", bound=TaskFunction)
Interceptor = TypeVar("Interceptor", bound=Intercept)
Configure = TypeVar("Configure", bound=Callable[[Any], Any])
Hook = TypeVar("Hook", bound=Callable[[], Any])
OnSession = TypeVar("OnSession", bound=Callable[[Any, Caller], Any])
Save = TypeVar("Save", bound=SaveSessions)
Restore = TypeVar("Restore", bound=RestoreSessions)


class PluginDeclarations:
    """The decorators of `Plugin`. Each returns the function unchanged, so that a test can call it.

    Functions may be `async`, unless stated otherwise. A function that is not `async` runs on its own thread, so several
    may run in parallel. A second function for the same purpose raises ValueError. A function that does not accept the
    arguments raises TypeError.
    """

    def __init__(self, version: Optional[str]) -> None:
        self._declared = Declarations()
        self._declared.version = version

    def task(
        self, name: str, *, summary: Optional[str] = None, permission: Optional[str] = None,
        public: Optional[bool] = None, option_permissions: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None, concurrency: Optional[int] = None, private: Optional[bool] = None,
        max_option_bytes: Optional[int] = None,
        options: Optional[Schema] = None, result: Optional[Schema] = None, progress: Optional[Schema] = None,
    ) -> Callable[[Task], Task]:
        """Declares a function as a task. The function takes the options and a `PluginCall`; an `async` function takes
        the `PluginCall` of `trestle_bridge.aio`. Its return value is the result. A `BridgeError` that it raises is the
        error for the caller. Any other exception becomes `internal`; its text is shown only to trusted callers, and its
        traceback is logged. A `Stream` in the result is written for the caller.

        Tasks that the manifest lists take precedence.

        Args:
            summary: one sentence for a person; None for the first line of the function's docstring.
            permission: the permission that a caller needs.
            public: whether members of the group `trestle` may call the task without a rule.
            option_permissions: the policy's verb for each option whose values are restricted, such as
                `{"namespace": "store"}`. The daemon checks them before it forwards the call.
            timeout: the timeout of a call without its own, in seconds; None for the daemon's default, `math.inf` for no
                timeout.
            concurrency: the maximum number of parallel calls; further calls wait in the daemon. None for 16 if the
                function uses threads, and for no limit if it is `async`.
            private: whether options and results are hidden from operators.
            max_option_bytes: the maximum length of the options, in bytes of JSON; None for the maximum length of a
                message. The daemon refuses longer options.
            options: the JSON Schema of the options. The daemon refuses options that do not match it.
            result: the JSON Schema of the result, for readers.
            progress: the JSON Schema of an intermediate result, for readers.
        """
        check_timeout(timeout)

        def declare(function: Task) -> Task:
            check_takes(function, 2, "two arguments, the options and the call")
            concurrency_of_threads = None if inspect.iscoroutinefunction(function) else THREADED_CONCURRENCY
            self._declared.add_task(name, function, {
                "summary": summary or _first_line(function) or name, "permission": permission,
                wire.PUBLIC: public,
                wire.OPTION_PERMISSIONS: dict(option_permissions) if option_permissions else None,
                "timeout": None if timeout in (None, math.inf) else milliseconds(timeout),
                "concurrency": concurrency or concurrency_of_threads,
                "private": private, wire.MAX_OPTION_BYTES: max_option_bytes,
                "options": options, "result": result, "progress": progress,
            }, has_timeout=timeout != math.inf)
            return function

        return declare

    def interceptor(
        self, name: str, *, tasks: Tasks, summary: Optional[str] = None,
        on_failure: Optional[Literal["refuse", "pass"]] = None,
    ) -> Callable[[Interceptor], Interceptor]:
        """Declares a function as an interceptor, which decides about calls before their tasks receive them. The
        function takes an `InterceptedCall`, or that of `trestle_bridge.aio` if it is `async`. It returns a `Decision`.
        A `BridgeError` that it raises refuses the call.

        Interceptors that the manifest lists take precedence.

        Args:
            tasks: names of tasks, or beginnings of names followed by `*`. Or a function that returns them, which is
                called after the plugin has started, and after each new configuration.
            summary: one sentence for operators; None for the first line of the function's docstring.
            on_failure: the effect on a call if the interceptor raises another exception or its process fails. `refuse`
                (the default) ends the call with the failure; `pass` continues without this interceptor.
        """

        def declare(function: Interceptor) -> Interceptor:
            check_takes(function, 1, "one argument, the intercepted call")
            about = {"summary": summary or _first_line(function) or name, wire.ON_FAILURE: on_failure}
            self._declared.add_interceptor(name, function, tasks, about)
            return function

        return declare

    def event(self, name: str, summary: str, *, public: bool = False) -> None:
        """Declares an event that the plugin publishes.

        Args:
            summary: one sentence for a person.
            public: whether members of the group `trestle` may receive it without a rule.
        """
        self._declared.add_event(name, summary, public)

    def configuration(
        self, schema: Optional[Schema] = None, *, reloadable: bool = False,
        check: Optional[Callable[[Any], None]] = None,
    ) -> Callable[[Configure], Configure]:
        """Declares a function that gets the plugin's section of the configuration, before the start.

        Args:
            schema: the JSON Schema of the section.
            reloadable: whether the function may get another section while the plugin runs.
            check: a function that validates a section before the configuration function gets it, and when the daemon
                asks whether a new section is valid. Its only effect is to raise
                `BridgeError("configuration.invalid", …, {"path", "expected", "got"})`. It must not be `async`, and must
                not wait.
        """
        if check is not None:
            check_takes(check, 1, "one argument, the section")
            check_waits_not(check, "a check of the configuration")

        def arguments(section: Any) -> tuple[Any]:
            if check is not None:
                check(section)
            return (section,)

        def declare(function: Configure) -> Configure:
            check_takes(function, 1, "one argument, the section")
            configure = adapted(function, arguments)
            self._declared.set_configuration(schema, reloadable)
            self._declared.add_hook(wire.CONFIGURE, configure)
            if reloadable:
                self._declared.add_hook(wire.RECONFIGURE, configure)
            if check is not None:
                self._declared.add_hook(wire.CHECK, adapted(check, lambda section: (section,)))
            return function

        return declare

    def on_stop(self, function: Hook) -> Hook:
        """Declares a function without arguments that runs when the plugin stops. No call follows."""
        return self._add_hook(wire.STOP, function)

    def on_clean(self, function: Hook) -> Hook:
        """Declares a function without arguments that runs in a process of a pool between two callers. It must drop the
        state of the last caller."""
        return self._add_hook(wire.CLEAN, function)

    def _add_hook(self, task: str, function: Hook) -> Hook:
        check_takes(function, 0, "no arguments")
        self._declared.add_hook(task, adapted(function, lambda options: ()))
        return function

    def on_session(self, function: OnSession) -> OnSession:
        """Declares a function that gets a `SessionChange` and a `Caller` for each change of a session. It is called on
        one thread, in order, and must not be `async`."""
        check_takes(function, 2, "two arguments, the change and the session's caller")
        check_waits_not(function, "a function of sessions")
        if self._declared.on_session is not None:
            raise ValueError("there are two functions of sessions; a plugin has one")
        self._declared.on_session = lambda data: function(data["change"], Caller.from_json(data.get("caller")))
        return function

    def save_sessions(self, function: Save) -> Save:
        """Declares a function that saves the state of sessions that continue in another daemon or in another process of
        the plugin. It gets their numbers, and returns any JSON by number. Omitted sessions have no state. No call is in
        flight, and `on_stop` follows. If the function raises, it is called again with fewer sessions."""
        check_takes(function, 1, "one argument, the sessions")
        save = adapted(function, lambda options: (list(options[wire.SAVED_SESSIONS]),))
        self._declared.add_hook(wire.SAVE_SESSIONS, _then(save, _saved))
        return function

    def restore_sessions(self, function: Restore) -> Restore:
        """Declares a function that restores sessions. It gets the states that `save_sessions` returned, perhaps in
        another version of the plugin. It returns the numbers of the sessions that cannot continue; None if all can.
        Calls follow. It may be called several times, each time with some of the sessions."""
        check_takes(function, 1, "one argument, the states")
        restore = adapted(function, lambda options: (_states(options),))
        self._declared.add_hook(wire.RESTORE_SESSIONS, _then(restore, lambda lost: {wire.LOST: list(lost or ())}))
        return function


def check_takes(function: Callable[..., Any], count: int, what: str) -> None:
    """Checks that a function takes `count` positional arguments.

    Raises:
        TypeError: it does not.
    """
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        name = getattr(function, "__name__", "the function")
        raise TypeError(f"{name} must take {what}") from None
    except ValueError:
        pass  # a function in C whose arguments are unknown


def check_waits_not(function: Callable[..., Any], what: str) -> None:
    """Checks that a function is not a coroutine function, because it cannot be awaited.

    Raises:
        TypeError: it is a coroutine function.
    """
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} cannot be async: write it without async")


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _states(options: Any) -> dict[int, Any]:
    return {int(number): state for number, state in options[wire.STATES].items()}


def _saved(states: Mapping[int, Any]) -> Any:
    return {wire.STATES: {str(number): state for number, state in states.items()}}


def _then(function: Callable[[Any, Any], Any], make: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Returns the function with `make` applied to its result."""
    if inspect.iscoroutinefunction(function):
        async def run_async(options: Any, call: Any) -> Any:
            return make(await function(options, call))

        return run_async
    return lambda options, call: make(function(options, call))
