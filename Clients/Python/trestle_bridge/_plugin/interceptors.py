"""Interceptors: functions that decide about calls before their tasks receive them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, ClassVar, Generic, Optional, Sequence, TypeVar, Union

from .._core.errors import BridgeError
from .._core.incoming import Caller
from .._core.messages import ABSENT
from . import aio_calls, wire
from .calls import CallOfPlugin, PluginCall


@dataclass(frozen=True)
class Decision:
    """The decision of an interceptor about a call: `Decision.PASS`, or the return value of a method. To refuse the
    call, raise a `BridgeError`."""

    PASS: ClassVar[Decision]
    """Passes the call unchanged to the next interceptor, and after the last one to its task."""

    json: Any

    @staticmethod
    def rewrite(options: Any) -> Decision:
        """Continues the call with other options. They are checked as if the caller had sent them."""
        return Decision({"options": options})

    @staticmethod
    def redirect(task: str, options: Any = ABSENT) -> Decision:
        """Redirects the call to another task, with the same or other options. The caller must have permission to call
        that task."""
        return Decision({"task": task} if options is ABSENT else {"task": task, "options": options})

    @staticmethod
    def answer(result: Any) -> Decision:
        """Ends the call with this result. Its task does not receive the call."""
        return Decision({"result": result})


Decision.PASS = Decision({"pass": True})

C = TypeVar("C", bound=CallOfPlugin)


class Question(Generic[C]):
    """The common base of `InterceptedCall` and `aio.InterceptedCall`.

    Attributes:
        task: the called task.
        options: the options from the caller, any JSON. They have not been checked yet.
        session: the session whose task must be called, if the caller named one; else None.
        one_way: whether the caller receives no result and no error.
        call: the call object for actions on behalf of the caller. Its `report_progress` reaches the caller. Calls that
            it makes are not passed to this interceptor.
    """

    def __init__(self, question: Any, call: C) -> None:
        self.task: str = question["task"]
        self.options: Any = question["options"]
        self.session: Optional[int] = question.get("session")
        self.one_way: bool = question.get(wire.ONE_WAY) is True
        self.call = call

    @property
    def caller(self) -> Caller:
        """The caller."""
        return self.call.caller

    @property
    def deadline(self) -> Optional[float]:
        """The time at which the call ends by itself, by `time.monotonic()`; None if it is unknown."""
        return self.call.deadline

    @property
    def time_remaining(self) -> Optional[float]:
        """The number of seconds until the deadline; None if there is none."""
        return self.call.time_remaining

    @property
    def cancelled(self) -> bool:
        """Whether the call has ended, so that no decision is needed."""
        return self.call.cancelled


class InterceptedCall(Question[PluginCall]):
    """An intercepted call, for an interceptor with its own thread."""

    def proceed(self) -> Any:
        """Calls the task now and waits for its result. For interceptors that store the result or answer with another
        one. Progress of the task is not forwarded.

        Raises:
            BridgeError: the error of the task. If the interceptor does not catch it, the caller gets it.
        """
        return self.call.call(self.task, self.options, session=self.session)


class AsyncInterceptedCall(Question[aio_calls.PluginCall]):
    """An intercepted call, for an `async` interceptor."""

    # The module from which programs import it, and its name there.
    __module__ = "trestle_bridge.aio"
    __qualname__ = "InterceptedCall"

    async def proceed(self) -> Any:
        """Calls the task now and waits for its result. For interceptors that store the result or answer with another
        one. Progress of the task is not forwarded.

        Raises:
            BridgeError: the error of the task. If the interceptor does not catch it, the caller gets it.
        """
        return await self.call.call(self.task, self.options, session=self.session)


Intercept = Union[Callable[[InterceptedCall], Decision], Callable[[AsyncInterceptedCall], Awaitable[Decision]]]
"""The function of an interceptor. It takes the call and returns a `Decision`, or raises."""

Tasks = Union[Sequence[str], Callable[[], Sequence[str]]]
"""Names of tasks, or beginnings of names followed by `*`; or a function that returns them."""


def deciding(function: Any) -> Callable[[Any, Any], Any]:
    """Adapts an interceptor to a handler, which takes the question and returns the decision as JSON."""
    if inspect.iscoroutinefunction(function):
        async def decide_async(question: Any, call: aio_calls.PluginCall) -> Any:
            try:
                return _decided(await function(AsyncInterceptedCall(question, call)))
            except BridgeError as error:
                return {"error": error.to_json()}

        return decide_async

    def decide(question: Any, call: PluginCall) -> Any:
        try:
            return _decided(function(InterceptedCall(question, call)))
        except BridgeError as error:
            # Sent as a decision, so that the daemon does not treat it as a failure of the plugin.
            return {"error": error.to_json()}

    return decide


def _decided(decision: Any) -> Any:
    if not isinstance(decision, Decision):
        raise TypeError(f"an interceptor returned {type(decision).__name__}, and no decision")
    return decision.json


def names(tasks: Tasks) -> list[str]:
    """Returns the current list of tasks."""
    return list(tasks() if callable(tasks) else tasks)
