"""What the daemon is asked so that it knows of tasks that are provided and events that are listened to.

It is asked once by whoever registers or subscribes, and again in every new session, which knows nothing of
the last.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Protocol

from .calls import Call, CallSink, CallTable, Outcome, Success
from .errors import SESSION_CLOSED, BridgeError
from .events import Subscription, Subscriptions
from .jsontext import encode
from .providing import ProvidedTasks, Registration

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
    def is_over(self) -> bool:
        """Whether there will be none any more."""

    def submit(self, call: Call) -> None:
        """Makes a call."""


class Requests:
    """Keeps the daemon's knowledge in step with the tables of this end."""

    def __init__(self, core: Submitter) -> None:
        self._core = core

    def register(self, task: str, scope: str, handler: Any, sink: CallSink) -> None:
        """Provides a task. The sink hears of the daemon's answer."""
        registrations = self._core.provided.registrations
        earlier = registrations.get(task)
        # Before the daemon knows: the first call may come with the callback.
        registration = registrations[task] = Registration(scope, handler)

        def done(outcome: Outcome) -> None:
            if isinstance(outcome, Success):
                registration.confirmed = True
            elif registrations.get(task) is registration:
                if earlier is not None:
                    registrations[task] = earlier
                else:
                    del registrations[task]
            sink.ended(outcome)

        self._ask("bridge.register", {"tasks": [task], "scope": scope}, done)

    def unregister(self, task: str, sink: CallSink) -> None:
        """Provides a task no more; calls that have come already go on."""
        registrations = self._core.provided.registrations
        registration = registrations.get(task)
        was_confirmed = registration is not None and registration.confirmed
        if registration is not None:
            # A session that begins before the answer comes shall not have it.
            registration.confirmed = False

        def done(outcome: Outcome) -> None:
            # A session that is closed provides nothing: what was asked for is so.
            gone = isinstance(outcome, Success) or outcome.code == SESSION_CLOSED
            if registration is not None and registrations.get(task) is registration:
                if gone:
                    del registrations[task]
                else:
                    registration.confirmed = was_confirmed
            sink.ended(Success(None) if gone else outcome)

        self._ask("bridge.unregister", {"tasks": [task]}, done)

    def subscribe(self, subscription: Subscription, sink: CallSink) -> None:
        """Listens. The call's sink hears of the daemon's answer, the subscription's of events."""
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

        self._ask("bridge.subscribe", {"events": list(subscription.patterns)}, done)

    def listen(self, subscription: Subscription) -> None:
        """Hears what the daemon sends anyway."""
        if self._core.is_over:
            subscription.sink.finished(None)
        else:
            self._core.subscriptions.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Listens no more. The daemon is told of the patterns that nobody else wants."""
        if subscription in self._core.subscriptions:
            self._core.subscriptions.remove(subscription)
            subscription.sink.finished(None)
            if subscription.confirmed:
                self._forget(self._core.subscriptions.unwanted(subscription))

    def restore(self) -> None:
        """A session has begun: it is told everything that the last one knew."""
        # One by one: of several names in one call, none is registered where one is not to be had.
        for task, registration in self._core.provided.registrations.items():
            if registration.confirmed:
                self._tell_anew("bridge.register", {"tasks": [task], "scope": registration.scope})
        if patterns := self._core.subscriptions.confirmed_patterns:
            self._tell_anew("bridge.subscribe", {"events": patterns})

    def _forget(self, patterns: list[str]) -> None:
        # Without a session the daemon knows of none.
        if patterns and self._core.is_open:
            self._ask("bridge.unsubscribe", {"events": patterns}, lambda outcome: None)

    def _ask(self, task: str, options: Any, done: Callable[[Outcome], None]) -> None:
        self._core.submit(Call(encode(task), encode(options), Done(done), timeout=_TIMEOUT))

    def _tell_anew(self, task: str, options: Any) -> None:
        def done(outcome: Outcome) -> None:
            # What ends with the connection is told anew in the next.
            if isinstance(outcome, BridgeError) and outcome.code != SESSION_CLOSED:
                log.warning("%s %s failed after connecting again: %s", task, options, outcome)

        call = Call(encode(task), encode(options), Done(done), timeout=_TIMEOUT, of_connection=True)
        self._core.calls.send(call, urgent=True)
