"""What the daemon is asked so that it knows of tasks that are provided and events that are listened to.

It is asked once by the caller that registers or subscribes, and again in every new session, which knows nothing of the
last.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Protocol

from . import wire
from .call import Call, CallSink, Outcome, Success
from .calls import CallTable
from .errors import SESSION_CLOSED, BridgeError
from .events import Subscription, Subscriptions
from .jsontext import encode
from .providing import ProvidedTask, ProvidedTasks

log = logging.getLogger("trestle_bridge")

_TIMEOUT = 60.0
"""Seconds for requests of the library's own: as long as the daemon gives a call that says nothing."""


class Done:
    """A sink that only wants the end."""

    def __init__(self, done: Callable[[Outcome], None]) -> None:
        self._done = done

    def progressed(self, value: Any) -> None:
        """The library's own requests ask for no progress."""

    def ended(self, outcome: Outcome) -> None:
        """The end."""
        self._done(outcome)


class Submitter(Protocol):
    """Where calls are made: the core."""

    calls: CallTable
    provided: ProvidedTasks
    subscriptions: Subscriptions

    @property
    def is_open(self) -> bool:
        """Whether there is a session."""

    @property
    def has_connection(self) -> bool:
        """Whether there is a connection, with a session or before it."""

    @property
    def is_over(self) -> bool:
        """Whether there will be no further ones."""

    def submit(self, call: Call) -> None:
        """Makes a call."""


class Requests:
    """Keeps the daemon's knowledge in step with the tables of this end."""

    def __init__(self, core: Submitter) -> None:
        self._core = core

    def register(self, provided: ProvidedTask, sink: CallSink) -> None:
        """Provides a task. The sink gets the daemon's answer."""
        tasks = self._core.provided.tasks
        earlier = tasks.get(provided.task)
        # Before the daemon knows: the first call may come with the callback.
        tasks[provided.task] = provided

        def done(outcome: Outcome) -> None:
            if isinstance(outcome, Success):
                provided.confirmed = True
            elif tasks.get(provided.task) is provided:
                if earlier is not None:
                    tasks[provided.task] = earlier
                else:
                    del tasks[provided.task]
            sink.ended(outcome)

        self._ask_until_answered(wire.REGISTER, _registration(provided), done)

    def unregister(self, provided: ProvidedTask, sink: CallSink) -> None:
        """No longer provides a task; calls that have come already go on. Does nothing where a later registration has
        taken its place."""
        tasks = self._core.provided.tasks
        if tasks.get(provided.task) is not provided:
            return sink.ended(Success(None))
        was_confirmed = provided.confirmed
        # A session that begins before the answer comes shall not have it.
        provided.confirmed = False
        if not self._core.is_open:
            # No session provides the task, and the next session is not asked to.
            del tasks[provided.task]
            return sink.ended(Success(None))

        def done(outcome: Outcome) -> None:
            # A session that is closed provides nothing: what was asked for is so.
            gone = isinstance(outcome, Success) or outcome.code == SESSION_CLOSED
            if tasks.get(provided.task) is provided:
                if gone:
                    del tasks[provided.task]
                else:
                    provided.confirmed = was_confirmed
            sink.ended(Success(None) if gone else outcome)

        self._ask(wire.UNREGISTER, {"tasks": [provided.task]}, done)

    def subscribe(self, subscription: Subscription, sink: CallSink) -> None:
        """Listens. The call's sink gets the daemon's answer, the subscription's sink events."""
        # Before the daemon knows: the first event may come right behind the callback.
        self._core.subscriptions.add(subscription)

        def done(outcome: Outcome) -> None:
            if isinstance(outcome, BridgeError):
                self._core.subscriptions.remove(subscription)
            elif subscription in self._core.subscriptions:
                subscription.confirmed = True
            else:
                # It was ended before the daemon knew of it.
                self._forget(self._core.subscriptions.unwanted(subscription))
            sink.ended(outcome)

        self._ask_until_answered(wire.SUBSCRIBE, {"events": list(subscription.patterns)}, done)

    def listen(self, subscription: Subscription) -> None:
        """Has a local subscription get what the daemon sends anyway."""
        if self._core.is_over:
            subscription.sink.finished(None)
        else:
            self._core.subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """No longer listens. The daemon is asked to end the patterns that no other subscription wants."""
        if subscription in self._core.subscriptions:
            self._core.subscriptions.remove(subscription)
            subscription.sink.finished(None)
            if subscription.confirmed:
                self._forget(self._core.subscriptions.unwanted(subscription))

    def restore(self) -> None:
        """A session has begun: it is asked for everything that the last one knew."""
        # One by one: of several names in one call, none is registered where one is not to be had.
        for provided in self._core.provided.tasks.values():
            if provided.confirmed:
                self._ask_anew(wire.REGISTER, _registration(provided))
        if patterns := self._core.subscriptions.confirmed_patterns:
            self._ask_anew(wire.SUBSCRIBE, {"events": patterns})

    def _forget(self, patterns: list[str]) -> None:
        # Without a session the daemon knows of none.
        if patterns and self._core.is_open:
            self._ask(wire.UNSUBSCRIBE, {"events": patterns}, lambda outcome: None)

    def _ask(self, task: str, options: Any, done: Callable[[Outcome], None]) -> None:
        self._core.submit(Call(encode(task), encode(options), Done(done), timeout=_TIMEOUT))

    def _ask_until_answered(self, task: str, options: Any, done: Callable[[Outcome], None]) -> None:
        """For what may be asked twice: where the connection is lost before the answer, the next session is asked."""

        def ended(outcome: Outcome) -> None:
            was_lost = isinstance(outcome, BridgeError) and outcome.code == SESSION_CLOSED and outcome.transient
            if was_lost and not self._core.has_connection and not self._core.is_over:
                self._ask_until_answered(task, options, done)
            else:
                done(outcome)

        self._ask(task, options, ended)

    def _ask_anew(self, task: str, options: Any) -> None:
        def done(outcome: Outcome) -> None:
            # What ends with the connection is asked for again in the next.
            if isinstance(outcome, BridgeError) and outcome.code != SESSION_CLOSED:
                log.warning("%s %s failed after connecting again: %s", task, options, outcome)

        call = Call(encode(task), encode(options), Done(done), timeout=_TIMEOUT, of_connection=True)
        self._core.calls.send(call, urgent=True)


def _registration(provided: ProvidedTask) -> dict[str, Any]:
    options: dict[str, Any] = {"tasks": [provided.task], "scope": provided.scope}
    if provided.description is not None:
        options[wire.DESCRIPTIONS] = {provided.task: provided.description.to_json()}
    return options
