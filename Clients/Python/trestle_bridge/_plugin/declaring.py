"""The decorators of a plugin: what it declares before it runs."""

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
"""What happened to a session. Others may be added."""

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
    """The decorators of `Plugin`. Each returns the function as it is, so that a test can call it.

    Functions may be `async`, unless it is said otherwise. One that is not has a thread, so several may run in parallel.
    Declaring two functions for one thing raises ValueError, and a function that does not take the arguments that it
    gets TypeError.
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
        """Declares a function to be a task. It takes the options and a `PluginCall`, of `trestle_bridge.aio` where it
        is `async`. What it returns is the result; a `BridgeError` that it raises is the caller's error, any other
        exception `internal`: its text reaches trusted callers alone, its traceback the log. A `Stream` in the result is
        written for the caller.

        Where the manifest lists tasks, these take precedence.

        Args:
            summary: one sentence for a person; None: the first line of the function's docstring.
            permission: the permission that a caller needs.
            public: whether members of the group `trestle` may call it without a rule.
            option_permissions: the policy's verb for options whose values not every caller may use:
                `{"namespace": "store"}`. The daemon checks before the call comes here.
            timeout: seconds, the timeout of a call that has none; None: the daemon's own; `math.inf`: no timeout.
            concurrency: the maximum of parallel calls, while more wait in the daemon; None: 16 of a function that
                takes threads, any number of one that is `async`.
            private: whether options and results are shown to no operator.
            max_option_bytes: the maximum length of the options of a call, in bytes of JSON; None: as long as a message.
                The daemon refuses longer ones.
            options: a JSON Schema; the daemon refuses options that do not fit.
            result: a JSON Schema, for readers.
            progress: a JSON Schema, for readers.
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
        """Declares a function to be asked about calls of tasks before these get them. It takes an `InterceptedCall`, of
        `trestle_bridge.aio` where it is `async`, and returns a `Decision`; a `BridgeError` that it raises refuses the
        call.

        Where the manifest lists interceptors, these take precedence.

        Args:
            tasks: names of tasks, or beginnings of names with a `*` behind them; or a function that returns them,
                called when the plugin has started, and when it has taken another configuration.
            summary: one sentence for operators; None: the first line of the function's docstring.
            on_failure: what becomes of a call when this fails, by another exception or with its process: `refuse`, it
                ends with the failure (also where None), or `pass`, it goes on without.
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
            public: whether members of the group `trestle` get it without a rule.
        """
        self._declared.add_event(name, summary, public)

    def configuration(
        self, schema: Optional[Schema] = None, *, reloadable: bool = False,
        check: Optional[Callable[[Any], None]] = None,
    ) -> Callable[[Configure], Configure]:
        """Declares a function to get the plugin's section of the configuration, before the start.

        Args:
            schema: a JSON Schema of the section.
            reloadable: whether the function may get another section while the plugin runs.
            check: gets a section before the function does, and where the daemon asks whether another one is valid. Its
                only effect is to raise `BridgeError("configuration.invalid", …, {"path", "expected", "got"})`. It is
                not `async`, and does not wait.
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
        """Declares what is done at the end, without arguments: no call follows."""
        return self._add_hook(wire.STOP, function)

    def on_clean(self, function: Hook) -> Hook:
        """Declares what is done, without arguments, between two callers of a process of a pool: it drops the state of
        the last one."""
        return self._add_hook(wire.CLEAN, function)

    def _add_hook(self, task: str, function: Hook) -> Hook:
        check_takes(function, 0, "no arguments")
        self._declared.add_hook(task, adapted(function, lambda options: ()))
        return function

    def on_session(self, function: OnSession) -> OnSession:
        """Declares a function to get a `SessionChange` and a `Caller` when something happens to a session. It runs on
        one thread, in order, and is not `async`."""
        check_takes(function, 2, "two arguments, the change and the session's caller")
        check_waits_not(function, "a function of sessions")
        if self._declared.on_session is not None:
            raise ValueError("there are two functions of sessions; a plugin has one")
        self._declared.on_session = lambda data: function(data["change"], Caller.from_json(data.get("caller")))
        return function

    def save_sessions(self, function: Save) -> Save:
        """Declares a function that gets the numbers of sessions that go on in another daemon or another process of the
        plugin, and returns what the plugin knows of them: any JSON by number. Sessions that it leaves out have no
        state. No call is in flight, and `on_stop` follows. Where it raises, it is called again with fewer of them."""
        check_takes(function, 1, "one argument, the sessions")
        save = adapted(function, lambda options: (list(options[wire.SAVED_SESSIONS]),))
        self._declared.add_hook(wire.SAVE_SESSIONS, _then(save, _saved))
        return function

    def restore_sessions(self, function: Restore) -> Restore:
        """Declares a function that gets what `save_sessions` returned, perhaps in another version of the plugin, and
        returns the numbers of those sessions that cannot go on; None: all can. Calls follow. It is called several
        times, each time with some of the sessions."""
        check_takes(function, 1, "one argument, the states")
        restore = adapted(function, lambda options: (_states(options),))
        self._declared.add_hook(wire.RESTORE_SESSIONS, _then(restore, lambda lost: {wire.LOST: list(lost or ())}))
        return function


def check_takes(function: Callable[..., Any], count: int, what: str) -> None:
    """Refuses a function that does not take so many arguments by position.

    Raises:
        TypeError: it takes more arguments, or fewer.
    """
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        name = getattr(function, "__name__", "the function")
        raise TypeError(f"{name} must take {what}") from None
    except ValueError:
        pass  # a function of C whose arguments are not known


def check_waits_not(function: Callable[..., Any], what: str) -> None:
    """Refuses a coroutine function where none can be awaited.

    Raises:
        TypeError: it is one.
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
    """The function, with what `make` makes of its result."""
    if inspect.iscoroutinefunction(function):
        async def run_async(options: Any, call: Any) -> Any:
            return make(await function(options, call))

        return run_async
    return lambda options, call: make(function(options, call))
