"""Interceptors: functions that are asked about calls of tasks before these get them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

from .._core.errors import BridgeError
from .._core.messages import ABSENT
from .._core.providing import Caller
from .calls import WorkerCall


@dataclass(frozen=True)
class Decision:
    """What becomes of a call. Made by `PASS`, `rewrite`, `redirect` and `answer`; to refuse one, raise a
    `BridgeError`."""

    json: Any


PASS = Decision({"pass": True})
"""The call goes on as it is: to the next interceptor, after the last one to its task."""


def rewrite(options: Any) -> Decision:
    """The call goes on with other options. The task checks them as if its caller had sent them."""
    return Decision({"options": options})


def redirect(task: str, options: Any = ABSENT) -> Decision:
    """The call becomes one of another task, with its own options or with others. Its caller must be allowed to
    call it."""
    return Decision({"task": task} if options is ABSENT else {"task": task, "options": options})


def answer(result: Any) -> Decision:
    """The call ends with this result; its task never hears of it."""
    return Decision({"result": result})


class InterceptedCall:
    """A call that an interceptor is asked about.

    Attributes:
        task: the task that is called.
        options: its options as they came, any JSON: nobody has checked yet whether they fit.
        session: the session whose task is meant, where the caller named one.
        one_way: nobody waits for the answer.
        question: what is done through it is done on behalf of the caller: `progress` reaches him.
    """

    def __init__(self, question: Any, call: WorkerCall) -> None:
        self.task: str = question["task"]
        self.options: Any = question["options"]
        self.session: Optional[int] = question.get("session")
        self.one_way: bool = question.get("oneWay") is True
        self.question = call

    @property
    def caller(self) -> Caller:
        """Who makes the call."""
        return self.question.caller

    @property
    def deadline(self) -> Optional[float]:
        """When the call ends by itself, by `time.monotonic()`; None: no such time is known."""
        return self.question.deadline

    @property
    def cancelled(self) -> bool:
        """Whether the call has ended: nobody waits for a decision."""
        return self.question.cancelled

    def bridge(self, task: str, options: Any = ABSENT, **how: Any) -> Any:
        """Calls a task on behalf of the caller, and waits; see `WorkerCall.bridge`. The call is not shown to this
        interceptor."""
        return self.question.bridge(task, options, **how)

    async def bridge_async(self, task: str, options: Any = ABSENT, **how: Any) -> Any:
        """`bridge` for functions that are `async`."""
        return await self.question.bridge_async(task, options, **how)

    def proceed(self) -> Any:
        """Has the task do what it was called for, here and now, and waits for the result: for who wants to keep it, or
        to answer with something else. Its progress is not handed on.

        Raises:
            BridgeError: what the task answered; raised on, it is what the caller gets.
        """
        return self.question.bridge(self.task, self.options, session=self.session)

    async def proceed_async(self) -> Any:
        """`proceed` for functions that are `async`."""
        return await self.question.bridge_async(self.task, self.options, session=self.session)


Intercept = Callable[[InterceptedCall], Any]
"""What decides: takes the call, returns a `Decision`, or raises; may be `async`."""

Tasks = Union[Sequence[str], Callable[[], Sequence[str]]]
"""Names of tasks, or beginnings of names with a `*` behind them; or a function that returns them."""


def deciding(function: Intercept) -> Callable[[Any, WorkerCall], Any]:
    """The function as one of a worker's own, from question to decision."""
    if inspect.iscoroutinefunction(function):
        async def decide_async(question: Any, call: WorkerCall) -> Any:
            try:
                return _said(await function(InterceptedCall(question, call)))
            except BridgeError as error:
                return {"error": error.to_json()}

        return decide_async

    def decide(question: Any, call: WorkerCall) -> Any:
        try:
            return _said(function(InterceptedCall(question, call)))
        except BridgeError as error:
            # Said as a decision, so that no code is taken for the worker's own failure.
            return {"error": error.to_json()}

    return decide


def _said(decision: Any) -> Any:
    if not isinstance(decision, Decision):
        raise TypeError(f"an interceptor returned {type(decision).__name__}, and no decision")
    return decision.json


def names(tasks: Tasks) -> list[str]:
    """The tasks as they are now."""
    return list(tasks() if callable(tasks) else tasks)
