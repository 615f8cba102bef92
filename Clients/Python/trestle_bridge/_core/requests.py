"""The requests to the daemon to register tasks and to subscribe to events.

Each request is sent once for the caller that registers or subscribes, and again in every new session.
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
"""The timeout of the library's own requests, in seconds: the daemon's default for a call without a timeout."""


class Done:
    """A sink that only uses the end of a call."""

    def __init__(self, done: Callable[[Outcome], None]) -> None:
        self._done = done

    def progressed(self, value: Any) -> None:
        """Does nothing: the library's own requests ask for no progress."""

    def ended(self, outcome: Outcome) -> None:
        """Passes the outcome to `done`."""
        self._done(outcome)


class Submitter(Protocol):
    """The part of the core that makes calls."""

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
        """Whether no further session follows."""

    def submit(self, call: Call) -> None:
        """Makes a call."""


class Requests:
    """Keeps the daemon's registrations and subscriptions consistent with the tables of this client."""

    def __init__(self, core: Submitter) -> None:
        self._core = core

    def register(self, provided: ProvidedTask, sink: CallSink) -> None:
        """Provides a task. The sink gets the daemon's answer."""
        tasks = self._core.provided.tasks
        earlier = tasks.get(provided.task)
        # Added before the request: the first call may arrive together with the callback.
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
        """Ends the registration of a task. Calls that have already arrived continue. Does nothing if a later
        registration has replaced it."""
        tasks = self._core.provided.tasks
        if tasks.get(provided.task) is not provided:
            return sink.ended(Success(None))
        was_confirmed = provided.confirmed
        # A session that begins before the answer must not register it again.
        provided.confirmed = False
        if not self._core.is_open:
            # No session provides the task, and the next session does not register it.
            del tasks[provided.task]
            return sink.ended(Success(None))

        def done(outcome: Outcome) -> None:
            # A closed session provides no tasks, so the request has succeeded.
            gone = isinstance(outcome, Success) or outcome.code == SESSION_CLOSED
            if tasks.get(provided.task) is provided:
                if gone:
                    del tasks[provided.task]
                else:
                    provided.confirmed = was_confirmed
            sink.ended(Success(None) if gone else outcome)

        self._ask(wire.UNREGISTER, {"tasks": [provided.task]}, done)

    def subscribe(self, subscription: Subscription, sink: CallSink) -> None:
        """Subscribes. The call's sink gets the daemon's answer, the subscription's sink gets the events."""
        # Added before the request: the first event may follow directly after the callback.
        self._core.subscriptions.add(subscription)

        def done(outcome: Outcome) -> None:
            if isinstance(outcome, BridgeError):
                self._core.subscriptions.remove(subscription)
            elif subscription in self._core.subscriptions:
                subscription.confirmed = True
            else:
                # It was ended before the daemon answered.
                self._forget(self._core.subscriptions.unwanted(subscription))
            sink.ended(outcome)

        self._ask_until_answered(wire.SUBSCRIBE, {"events": list(subscription.patterns)}, done)

    def listen(self, subscription: Subscription) -> None:
        """Adds a local subscription, which gets the events that the daemon sends anyway."""
        if self._core.is_over:
            subscription.sink.finished(None)
        else:
            self._core.subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Ends a subscription. Asks the daemon to end the patterns that no other subscription has."""
        if subscription in self._core.subscriptions:
            self._core.subscriptions.remove(subscription)
            subscription.sink.finished(None)
            if subscription.confirmed:
                self._forget(self._core.subscriptions.unwanted(subscription))

    def restore(self) -> None:
        """Registers and subscribes again in a new session."""
        # One call per task: if one name in a call cannot be registered, the daemon registers none of them.
        for provided in self._core.provided.tasks.values():
            if provided.confirmed:
                self._ask_anew(wire.REGISTER, _registration(provided))
        if patterns := self._core.subscriptions.confirmed_patterns:
            self._ask_anew(wire.SUBSCRIBE, {"events": patterns})

    def _forget(self, patterns: list[str]) -> None:
        # Without a session, the daemon has no patterns of this client.
        if patterns and self._core.is_open:
            self._ask(wire.UNSUBSCRIBE, {"events": patterns}, lambda outcome: None)

    def _ask(self, task: str, options: Any, done: Callable[[Outcome], None]) -> None:
        self._core.submit(Call(encode(task), encode(options), Done(done), timeout=_TIMEOUT))

    def _ask_until_answered(self, task: str, options: Any, done: Callable[[Outcome], None]) -> None:
        """Repeats the request in the next session if the connection is lost before the answer. For requests that may be
        made twice."""

        def ended(outcome: Outcome) -> None:
            was_lost = isinstance(outcome, BridgeError) and outcome.code == SESSION_CLOSED and outcome.transient
            if was_lost and not self._core.has_connection and not self._core.is_over:
                self._ask_until_answered(task, options, done)
            else:
                done(outcome)

        self._ask(task, options, ended)

    def _ask_anew(self, task: str, options: Any) -> None:
        def done(outcome: Outcome) -> None:
            # After a lost connection, the next session sends the request again.
            if isinstance(outcome, BridgeError) and outcome.code != SESSION_CLOSED:
                log.warning("%s %s failed after connecting again: %s", task, options, outcome)

        call = Call(encode(task), encode(options), Done(done), timeout=_TIMEOUT, of_connection=True)
        self._core.calls.send(call, urgent=True)


def _registration(provided: ProvidedTask) -> dict[str, Any]:
    options: dict[str, Any] = {"tasks": [provided.task], "scope": provided.scope}
    if provided.description is not None:
        options[wire.DESCRIPTIONS] = {provided.task: provided.description.to_json()}
    return options
