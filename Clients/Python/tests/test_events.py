"""The core without a socket: retained events, and reports of missed events."""

from __future__ import annotations

from typing import Any

from trestle_bridge import Event
from trestle_bridge._core.events import Subscription

from .core_support import CoreTestCase, Listener, Recorder

MISSED = Event("bridge.events_dropped", {"count": None})


class EventTestCase(CoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.greet()

    def subscribe(self, *patterns: str, local: bool = False) -> tuple[Subscription, Listener]:
        listener = Listener()
        subscription = Subscription(patterns, listener, local=local)
        if local:
            self.core.requests.listen(subscription)
        else:
            self.core.requests.subscribe(subscription, Recorder())
            self.confirm()
        return subscription, listener

    def confirm(self) -> None:
        self.feed(*({"callbackId": message["callbackId"], "result": {}} for message in self.written()))

    def publish(self, name: str, data: Any, retained: bool = True) -> None:
        self.feed({"event": name, "data": data, **({"retained": True} if retained else {})})


class RetainedTests(EventTestCase):
    def test_a_second_subscription_gets_the_newest_retained_event(self) -> None:
        self.subscribe("lamp")
        self.publish("lamp", "on")
        self.publish("lamp", "off")
        _, second = self.subscribe("lamp")
        self.assertEqual(second.events, [Event("lamp", "off")])
        self.publish("lamp", "on")
        self.assertEqual(second.events, [Event("lamp", "off"), Event("lamp", "on")])

    def test_an_event_that_is_not_retained_is_not_kept(self) -> None:
        self.subscribe("door.*")
        self.publish("door.open", 1, retained=False)
        self.assertEqual(self.subscribe("door.*")[1].events, [])

    def test_a_pattern_that_takes_in_the_name_gets_it_too_and_no_other_does(self) -> None:
        self.subscribe("door.*")
        self.publish("door.open", 1)
        self.publish("door.shut", 2)
        self.assertEqual(self.subscribe("door.shut")[1].events, [Event("door.shut", 2)])
        self.assertEqual(self.subscribe("window")[1].events, [])

    def test_a_local_subscription_gets_only_what_comes(self) -> None:
        self.subscribe("lamp")
        self.publish("lamp", "on")
        _, local = self.subscribe("lamp", local=True)
        self.assertEqual(local.events, [])

    def test_what_nobody_subscribes_to_any_more_comes_from_the_daemon_again(self) -> None:
        first, _ = self.subscribe("lamp")
        self.publish("lamp", "on")
        self.core.requests.unsubscribe(first)
        self.written()
        self.assertEqual(self.subscribe("lamp")[1].events, [])

    def test_a_new_session_is_sent_what_is_retained_and_the_old_is_forgotten(self) -> None:
        self.subscribe("lamp")
        self.publish("lamp", "on")
        self.core.lost("gone")
        self.after(1)
        self.greet()
        self.confirm()
        self.assertEqual(self.subscribe("lamp")[1].events, [])
        self.publish("lamp", "off")
        self.assertEqual(self.subscribe("lamp")[1].events, [Event("lamp", "off")])

    def test_only_so_many_are_kept(self) -> None:
        self.subscribe("n.*")
        for number in range(1100):
            self.publish(f"n.{number}", number)
        self.publish("n.0", "new")
        events = self.subscribe("n.*")[1].events
        self.assertEqual((len(events), events[0]), (1024, Event("n.0", "new")))


class MissedTests(EventTestCase):
    def test_every_stream_learns_of_a_new_session_before_its_events(self) -> None:
        listeners = [self.subscribe("door.*")[1], self.subscribe("*", local=True)[1]]
        self.core.lost("gone")
        self.after(1)
        self.greet()
        self.publish("door.open", 1, retained=False)
        self.assertEqual([listener.events for listener in listeners], [[MISSED, Event("door.open", 1)]] * 2)

    def test_a_stream_that_the_daemon_has_not_confirmed_has_missed_nothing(self) -> None:
        self.core.lost("gone")
        listener = Listener()
        self.core.requests.subscribe(Subscription(["door.*"], listener), Recorder())
        self.after(1)
        self.greet()
        self.confirm()
        self.assertEqual(listener.events, [])

    def test_the_first_session_of_a_client_misses_nothing(self) -> None:
        _, listener = self.subscribe("door.*")
        self.assertEqual(listener.events, [])
