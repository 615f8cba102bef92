"""The subscriptions of this client. The daemon has each pattern only once, for any number of subscriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Protocol, Sequence

from .errors import BridgeError
from .wire import EVENTS_DROPPED


@dataclass(frozen=True)
class Event:
    """An event: its name, such as `record.changed`, and its data, any JSON.

    If a reader is too slow, the oldest events that wait for it are dropped, and it gets `bridge.events_dropped` with
    `{"count": n}` instead. The daemon does the same. After a reconnect, `count` is None, because the number of missed
    events is unknown.
    """

    name: str
    data: Any = None


class EventSink(Protocol):
    """The receiver of a subscription's events. Called on the thread that owns the core; must not block."""

    def received(self, event: Event) -> None:
        """Receives an event, in the order of publication; never called after the end."""

    def finished(self, error: Optional[BridgeError]) -> None:
        """Receives the end of the events; called at most once. The error is None if this client ended them."""


class Subscription:
    """One listener and its patterns."""

    def __init__(self, patterns: Sequence[str], sink: EventSink, *, local: bool = False) -> None:
        self.patterns = tuple(dict.fromkeys(patterns))
        self.sink = sink
        self.local = local
        """Whether the daemon is not asked: the subscription only gets events that the daemon sends anyway."""
        self.confirmed = False
        """Whether the daemon has accepted it. Only confirmed subscriptions are restored in the next session."""

    def wants(self, name: str) -> bool:
        """Whether the subscription gets events of this name."""
        # Events that the daemon dropped concern all subscriptions.
        return name == EVENTS_DROPPED or any(matches(pattern, name) for pattern in self.patterns)


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern matches the name of an event. A pattern is a name, or the beginning of a name followed by
    `*`."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


class Subscriptions:
    """All subscriptions of a client, and the newest retained event of each name that they get.

    The daemon sends a retained event only once to a session. Later subscriptions of this client get it from here.
    """

    MAX_RETAINED = 1024
    """The maximum number of retained events; the same as in the daemon."""

    def __init__(self) -> None:
        self._all: list[Subscription] = []
        self._retained: dict[str, Event] = {}

    def add(self, subscription: Subscription) -> None:
        """Adds a subscription. It first gets the stored retained events, unless it is local."""
        if not subscription.local:
            for event in self._retained.values():
                if subscription.wants(event.name):
                    subscription.sink.received(event)
        self._all.append(subscription)

    def __contains__(self, subscription: Subscription) -> bool:
        return subscription in self._all

    def remove(self, subscription: Subscription) -> None:
        """Removes a subscription. It gets no further events."""
        if subscription in self._all:
            self._all.remove(subscription)
            # The daemon sends the removed events again to the next subscription.
            others = [other for other in self._all if not other.local]
            self._retained = {
                name: event for name, event in self._retained.items() if any(other.wants(name) for other in others)
            }

    def unwanted(self, subscription: Subscription) -> list[str]:
        """Returns the patterns of a removed subscription that no other subscription has."""
        wanted = {pattern for other in self._all if not other.local for pattern in other.patterns}
        return [pattern for pattern in subscription.patterns if pattern not in wanted]

    @property
    def confirmed_patterns(self) -> list[str]:
        """The patterns to subscribe in a new session, without duplicates."""
        patterns = (pattern for one in self._all if one.confirmed for pattern in one.patterns)
        return list(dict.fromkeys(patterns))

    def receive(self, event: Event, retained: bool = False) -> None:
        """Passes an event to every matching subscription. If `retained`, stores it for later subscriptions."""
        receivers = [subscription for subscription in self._all if subscription.wants(event.name)]
        for subscription in receivers:
            subscription.sink.received(event)
        if retained and any(not subscription.local for subscription in receivers):
            if event.name in self._retained or len(self._retained) < self.MAX_RETAINED:
                self._retained[event.name] = event

    def session_replaced(self) -> None:
        """Handles a new session after a lost one: reports to all subscriptions that events may be missing. The daemon
        sends retained events again."""
        self._retained.clear()
        for subscription in list(self._all):
            if subscription.confirmed or subscription.local:
                subscription.sink.received(Event(EVENTS_DROPPED, {"count": None}))

    def finish(self, error: Optional[BridgeError]) -> None:
        """Ends all subscriptions."""
        everybody, self._all = self._all, []
        self._retained.clear()
        for subscription in everybody:
            subscription.sink.finished(error)


def check_patterns(patterns: Sequence[str]) -> None:
    """Checks the patterns of a subscription.

    Raises:
        ValueError: there is no pattern.
        TypeError: a pattern is not a string.
    """
    if not patterns:
        raise ValueError("a subscription needs event names, or beginnings of names followed by *")
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"a pattern is a string, not {pattern!r}")
