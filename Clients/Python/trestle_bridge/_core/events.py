"""What this end listens to. The daemon knows each pattern once, however many subscriptions want it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Protocol, Sequence

from .errors import BridgeError
from .wire import EVENTS_DROPPED


@dataclass(frozen=True)
class Event:
    """An event: its name, such as `record.changed`, and its data, any JSON.

    Where a reader falls behind, the oldest events that wait for it are dropped, and it gets
    `bridge.events_dropped` with `{"count": n}` in their place; the daemon does the same. After a connection was lost
    and made again, `count` is None: how many were missed is not known.
    """

    name: str
    data: Any = None


class EventSink(Protocol):
    """Who listens. Called on the thread that owns the core; must not block."""

    def received(self, event: Event) -> None:
        """An event, in the order of publication; never after the end."""

    def finished(self, error: Optional[BridgeError]) -> None:
        """No further events come; None: because this end wanted so. At most once."""


class Subscription:
    """One listener and its patterns."""

    def __init__(self, patterns: Sequence[str], sink: EventSink, *, local: bool = False) -> None:
        self.patterns = tuple(dict.fromkeys(patterns))
        self.sink = sink
        self.local = local
        """Whether it only gets what the daemon sends anyway; the daemon knows nothing of it."""
        self.confirmed = False
        """Whether the daemon has taken it: only then it is subscribed again in the next session."""

    def wants(self, name: str) -> bool:
        """Whether a pattern fits."""
        # What the daemon dropped concerns all listeners.
        return name == EVENTS_DROPPED or any(matches(pattern, name) for pattern in self.patterns)


def matches(pattern: str, name: str) -> bool:
    """Whether an event of that name is meant by a pattern: a name, or the beginning of one with `*` behind
    it."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


class Subscriptions:
    """All subscriptions of a client, and the newest retained event of each name that they get.

    The daemon sends a retained event once to a session; later subscribers here get it from here.
    """

    MAX_RETAINED = 1024
    """Events that are kept here: as many as the daemon keeps."""

    def __init__(self) -> None:
        self._all: list[Subscription] = []
        self._retained: dict[str, Event] = {}

    def add(self, subscription: Subscription) -> None:
        """Has it get events from now on, those first that are retained and have come already."""
        if not subscription.local:
            for event in self._retained.values():
                if subscription.wants(event.name):
                    subscription.sink.received(event)
        self._all.append(subscription)

    def __contains__(self, subscription: Subscription) -> bool:
        return subscription in self._all

    def remove(self, subscription: Subscription) -> None:
        """Ends its events: it gets no further ones."""
        if subscription in self._all:
            self._all.remove(subscription)
            # The daemon sends these again to the next subscriber.
            others = [other for other in self._all if not other.local]
            self._retained = {
                name: event for name, event in self._retained.items() if any(other.wants(name) for other in others)
            }

    def unwanted(self, subscription: Subscription) -> list[str]:
        """The patterns of one that was removed which no other subscription wants."""
        wanted = {pattern for other in self._all if not other.local for pattern in other.patterns}
        return [pattern for pattern in subscription.patterns if pattern not in wanted]

    @property
    def confirmed_patterns(self) -> list[str]:
        """What a new session has to be subscribed to, each once."""
        patterns = (pattern for one in self._all if one.confirmed for pattern in one.patterns)
        return list(dict.fromkeys(patterns))

    def receive(self, event: Event, retained: bool = False) -> None:
        """Hands an event to every subscription that wants it; `retained`: keeps it for later subscribers."""
        receivers = [subscription for subscription in self._all if subscription.wants(event.name)]
        for subscription in receivers:
            subscription.sink.received(event)
        if retained and any(not subscription.local for subscription in receivers):
            if event.name in self._retained or len(self._retained) < self.MAX_RETAINED:
                self._retained[event.name] = event

    def session_replaced(self) -> None:
        """A new session takes the place of a lost one: all subscriptions learn that events may be missing, and the
        daemon sends what is retained again."""
        self._retained.clear()
        for subscription in list(self._all):
            if subscription.confirmed or subscription.local:
                subscription.sink.received(Event(EVENTS_DROPPED, {"count": None}))

    def finish(self, error: Optional[BridgeError]) -> None:
        """No further events come."""
        everybody, self._all = self._all, []
        self._retained.clear()
        for subscription in everybody:
            subscription.sink.finished(error)


def check_patterns(patterns: Sequence[str]) -> None:
    """Refuses a subscription to nothing.

    Raises:
        ValueError: there is no pattern.
        TypeError: a pattern is no string.
    """
    if not patterns:
        raise ValueError("a subscription needs names of events, or beginnings of names with * behind them")
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"a pattern is a string, not {pattern!r}")
