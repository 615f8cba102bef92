"""Waiting for the calls about an end of a stream, on a thread."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, cast

from .._core.streaming import Begun, Steps

T = TypeVar("T")


class Started(Begun, Protocol):
    """A call that was begun."""

    def result(self) -> Any:
        """Waits for its result."""


def wait(steps: Steps[Started, T]) -> T:
    """Goes through the steps, and returns what they end with."""
    try:
        pending = next(steps)
        while True:
            try:
                answer = pending.result()
            except BaseException as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(answer)
    except StopIteration as end:
        return cast(T, end.value)
