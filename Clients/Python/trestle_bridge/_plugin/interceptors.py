"""Interceptors: functions that are asked about calls of tasks before these get them."""

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
    """What becomes of a call that an interceptor was asked about: `Decision.PASS`, or what a method returns. To refuse
    the call, raise a `BridgeError`."""

    PASS: ClassVar[Decision]
    """The call goes on as it is: to the next interceptor, after the last one to its task."""

    json: Any

    @staticmethod
    def rewrite(options: Any) -> Decision:
        """The call goes on with other options. The task checks them as if its caller had sent them."""
        return Decision({"options": options})

    @staticmethod
    def redirect(task: str, options: Any = ABSENT) -> Decision:
        """The call becomes one of another task, with its own options or with others. Its caller must be allowed to
        call it."""
        return Decision({"task": task} if options is ABSENT else {"task": task, "options": options})

    @staticmethod
    def answer(result: Any) -> Decision:
        """The call ends with this result; its task does not get it."""
        return Decision({"result": result})


Decision.PASS = Decision({"pass": True})

C = TypeVar("C", bound=CallOfPlugin)


class Question(Generic[C]):
    """What `InterceptedCall` and `aio.InterceptedCall` have in common.

    Attributes:
        task: the task that is called.
        options: its options as they came, any JSON: they have not been checked yet.
        session: the session whose task is meant, where the caller named one.
        one_way: no one waits for the answer.
        call: what is done through it is done on behalf of the caller: `report_progress` reaches the caller, and a task
            that it calls is not shown to this interceptor.
    """

    def __init__(self, question: Any, call: C) -> None:
        self.task: str = question["task"]
        self.options: Any = question["options"]
        self.session: Optional[int] = question.get("session")
        self.one_way: bool = question.get(wire.ONE_WAY) is True
        self.call = call

    @property
    def caller(self) -> Caller:
        """Who makes the call."""
        return self.call.caller

    @property
    def deadline(self) -> Optional[float]:
        """When the call ends by itself, by `time.monotonic()`; None: no such time is known."""
        return self.call.deadline

    @property
    def time_remaining(self) -> Optional[float]:
        """Seconds until the deadline, as of now; None where there is none."""
        return self.call.time_remaining

    @property
    def cancelled(self) -> bool:
        """Whether the call has ended: no one waits for a decision."""
        return self.call.cancelled


class InterceptedCall(Question[PluginCall]):
    """A call that an interceptor with a thread of its own is asked about."""

    def proceed(self) -> Any:
        """Has the task do its work now, and waits for the result: for interceptors that keep it, or answer with
        something else. Its progress is not handed on.

        Raises:
            BridgeError: what the task answered; raised on, it is what the caller gets.
        """
        return self.call.call(self.task, self.options, session=self.session)


class AsyncInterceptedCall(Question[aio_calls.PluginCall]):
    """A call that an interceptor that is `async` is asked about."""

    # What programs import it from, and as what.
    __module__ = "trestle_bridge.aio"
    __qualname__ = "InterceptedCall"

    async def proceed(self) -> Any:
        """Has the task do its work now, and waits for the result: for interceptors that keep it, or answer with
        something else. Its progress is not handed on.

        Raises:
            BridgeError: what the task answered; raised on, it is what the caller gets.
        """
        return await self.call.call(self.task, self.options, session=self.session)


Intercept = Union[Callable[[InterceptedCall], Decision], Callable[[AsyncInterceptedCall], Awaitable[Decision]]]
"""What decides: takes the call, and returns a `Decision`, or raises."""

Tasks = Union[Sequence[str], Callable[[], Sequence[str]]]
"""Names of tasks, or beginnings of names with a `*` behind them; or a function that returns them."""


def deciding(function: Any) -> Callable[[Any, Any], Any]:
    """The function as one of a plugin's own, from question to decision."""
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
            # Sent as a decision, so that no code is taken for the plugin's own failure.
            return {"error": error.to_json()}

    return decide


def _decided(decision: Any) -> Any:
    if not isinstance(decision, Decision):
        raise TypeError(f"an interceptor returned {type(decision).__name__}, and no decision")
    return decision.json


def names(tasks: Tasks) -> list[str]:
    """The tasks as they are now."""
    return list(tasks() if callable(tasks) else tasks)
