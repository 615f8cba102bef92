"""Events to many sessions, while the daemon stops or hands its sessions over."""

from __future__ import annotations

import json
import random
import resource
import selectors
import signal
import socket
from typing import Any, Callable

from bridge import LIMIT
from daemon import Daemon, Home
from report import FaultTest
from settings import ROUNDS, SEED

SUBSCRIBERS = 900
PUBLISHERS = 8
EVENTS = 40


class Client:
    """A connection whose messages are collected as they arrive."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""
        self.has_ended = False
        self.events: list[tuple[int, int]] = []
        self.callbacks: list[dict[str, Any]] = []

    def send(self, *messages: dict[str, Any]) -> None:
        self.socket.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def receive(self) -> None:
        """Reads what has arrived."""
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionResetError:
            data = b""
        self.has_ended = not data
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if message.get("event") == "e":
                publisher, number = message["data"]
                self.events.append((publisher, number))
            elif "callbackId" in message:
                self.callbacks.append(message)

    @property
    def acknowledged(self) -> list[int]:
        return [message["callbackId"] for message in self.callbacks if "result" in message]


class Events(FaultTest):
    """Eight sessions publish to nine hundred. A tenth of the subscribers reads nothing until the daemon has ended."""

    def setUp(self) -> None:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
        self.random = random.Random(SEED)
        self.home = Home(configuration='drain_timeout = "2s"\n')
        self.addCleanup(self.home.remove)

    def open(self) -> None:
        """Opens all sessions, and publishes."""
        self.subscribers = [Client(self.home.socket) for _ in range(SUBSCRIBERS)]
        self.publishers = [Client(self.home.socket) for _ in range(PUBLISHERS)]
        for client in self.subscribers:
            client.send({"task": "bridge.subscribe", "options": {"events": ["e"]}, "callbackId": "s"})
        self.read_until(self.subscribers, lambda client: len(client.callbacks) == 1)
        for publisher, client in enumerate(self.publishers):
            client.send(*({"task": "bridge.publish", "options": {"event": "e", "data": [publisher, number]},
                           "callbackId": number} for number in range(EVENTS)))

    def close(self) -> None:
        for client in self.subscribers + self.publishers:
            client.socket.close()

    def read_until(self, clients: list[Client], condition: Callable[[Client], bool]) -> None:
        """Reads from all clients until the condition holds for each of them."""
        with selectors.DefaultSelector() as selector:
            for client in clients:
                if not condition(client):
                    selector.register(client.socket, selectors.EVENT_READ, client)
            while selector.get_map():
                ready = selector.select(LIMIT)
                self.assertTrue(ready, f"{LIMIT} s without a message")
                for key, _ in ready:
                    key.data.receive()
                    if key.data.has_ended or condition(key.data):
                        selector.unregister(key.data.socket)

    def interrupt(self, daemon: Daemon) -> None:
        """Stops the daemon when one subscriber has got some of the events."""
        count = self.random.randrange(PUBLISHERS * EVENTS)
        one = self.random.choice(self.subscribers)
        self.read_until([one], lambda client: len(client.events) >= count)
        daemon.process.send_signal(signal.SIGTERM)

    def check_order(self) -> list[tuple[int, int]]:
        """Checks that all subscribers got the same events in the same order, and returns them."""
        events = self.subscribers[0].events
        for client in self.subscribers:
            self.assertEqual(client.events, events)
        for publisher in range(PUBLISHERS):
            own = [number for by, number in events if by == publisher]
            self.assertEqual(own, list(range(len(own))), "each publisher's events, in order and once")
        return events

    def test_stopped(self) -> None:
        """A daemon that is stopped in the midst of events sends each acknowledged one to all subscribers, in one order"""
        seen = 0
        for _ in range(ROUNDS):
            daemon = Daemon.ready(self.home)
            self.addCleanup(daemon.kill)
            self.open()
            self.interrupt(daemon)
            readers = self.subscribers[SUBSCRIBERS // 10:] + self.publishers
            self.read_until(readers, lambda client: client.has_ended)
            self.assertEqual(daemon.wait(), 0, self.home.log[-2_000:])
            self.read_until(self.subscribers, lambda client: client.has_ended)
            events = self.check_order()
            for publisher, client in enumerate(self.publishers):
                numbers = [message["callbackId"] for message in client.callbacks]
                self.assertEqual(len(numbers), len(set(numbers)), "a second callback of a call")
                self.assertLessEqual({(publisher, number) for number in client.acknowledged}, set(events))
                seen += len(client.acknowledged)
            self.close()
        self.row(f"the daemon is stopped (SIGTERM) after a random event, while {PUBLISHERS} sessions publish "
                 f"{EVENTS} events each to {SUBSCRIBERS}, of which a tenth does not read", f"{ROUNDS} times",
                 "all subscribers get the same events in the same order, none twice; every acknowledged event reaches "
                 "all; at most one callback for each call; status 0",
                 f"as promised, each time; {seen} of {ROUNDS * PUBLISHERS * EVENTS} events acknowledged")

    def test_handed_over(self) -> None:
        """A daemon that is restarted in the midst of events sends all of them to all subscribers, in one order"""
        for _ in range(ROUNDS):
            daemon = Daemon.ready(self.home, FDSTORE="1")
            self.addCleanup(daemon.kill)
            self.open()
            self.interrupt(daemon)
            self.assertEqual(daemon.wait(), 0, self.home.log[-2_000:])
            daemon = Daemon.ready(self.home, FDSTORE="1")
            self.addCleanup(daemon.kill)
            self.read_until(self.publishers, lambda client: len(client.callbacks) >= EVENTS)
            for client in self.subscribers + self.publishers:
                # Its callback follows all events that were published before.
                client.send({"task": "bridge.ping", "callbackId": "last"})
            self.read_until(self.subscribers + self.publishers, lambda client: client.callbacks[-1]["callbackId"] == "last")
            self.assertEqual(len(self.check_order()), PUBLISHERS * EVENTS)
            for client in self.publishers:
                self.assertEqual(client.acknowledged, [*range(EVENTS), "last"])
            self.close()
            daemon.kill()
        self.row(f"the daemon is restarted, and hands its sessions over, after a random event, while {PUBLISHERS} "
                 f"sessions publish {EVENTS} events each to {SUBSCRIBERS}, of which a tenth does not read",
                 f"{ROUNDS} times",
                 "all subscribers get all events in the same order, none twice; one callback for each call; status 0",
                 f"as promised, each time, for {ROUNDS * PUBLISHERS * EVENTS} events")
