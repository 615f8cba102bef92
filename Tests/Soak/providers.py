"""Well-behaved clients that provide tasks, publish and subscribe, and log in."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from client import CRASHES, Client
from dialects import NATIVE, Incoming
from soak import Soak


async def provider(soak: Soak, name: str) -> None:
    """Provides `offer`, and disconnects now and then: in order, or with open calls."""
    rng = soak.random(name)
    while not soak.over:
        client = await soak.connect(name)
        if client is None:
            return
        await Offer(client, rng).serve(soak)


class Offer:
    """The task `offer` on one connection."""

    def __init__(self, client: Client, rng: random.Random) -> None:
        self.client = client
        self.rng = rng
        self.seen: set[Any] = set()
        self.waiting: set[Any] = set()
        self.waits = asyncio.Event()
        """Set once there is a call that is not answered."""
        client.on_call = self.called
        client.on_cancel = self.cancelled

    async def serve(self, soak: Soak) -> None:
        answer = await self.client.call("bridge.register", {"tasks": ["offer"]})
        if answer is None or answer.failed:
            return await self.client.finish()
        while not soak.over and not self.client.ended and self.rng.random() > 0.04:
            await soak.pause(0.1)
        end = self.rng.random()
        if end < 0.4:
            self.client.leave()
        elif end < 0.7:
            await self.client.call("bridge.unregister", {"tasks": ["offer"]})
            await self.client.finish()
        else:
            await self.client.finish()

    def called(self, message: Any) -> None:
        number = message.get("callbackId")
        if number in self.seen:
            self.client.broke(f"the call {number} came twice")
        self.seen.add(number)
        options = message["options"]
        act = options["act"]
        result = {"callbackId": number, "result": {"value": options["value"]}}
        if act == "progress":
            steps = [{"callbackId": number, "progress": step} for step in range(3)]
            self.client.send(*steps, result)
        elif act == "fail":
            self.client.send({"callbackId": number, "error": {"code": "offer.failed", "message": "As asked."}})
        elif act == "nonsense":
            # The daemon treats it as the invalid callback of a provider, and sends no error.
            self.client.send({"callbackId": number, "error": {"code": 7}})
        elif act == "never":
            self.waiting.add(number)
            self.waits.set()
        else:
            self.client.send(result)

    def cancelled(self, number: Any) -> None:
        if number not in self.seen:
            self.client.broke(f"a cancel of {number}, which never came")
        if number in self.waiting:
            self.waiting.discard(number)
            self.client.send({"callbackId": number, "error": {"code": "call.cancelled", "message": "It is."}})


class Listener:
    """Counts the events of a publisher: each must arrive once, in order, or be reported as dropped."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.received = 0
        self.dropped = 0
        self.last = 0
        client.on_event = self.heard

    def heard(self, event: Incoming) -> None:
        if event.name == "bridge.events_dropped":
            self.dropped += event.body["count"]
            return
        number = event.body["n"]
        if number <= self.last:
            self.client.broke(f"the event {number} after {self.last}")
        self.last = number
        self.received += 1


async def events(soak: Soak, name: str) -> None:
    """A publisher and its subscriber, which sometimes reads slowly."""
    rng = soak.random(name)
    topics = 0
    while not soak.over:
        topics += 1
        topic = f"tide.{name}.{topics}"
        ears, mouth = await soak.connect(f"{name}, listening"), await soak.connect(f"{name}, publishing")
        if ears is not None and mouth is not None:
            await publish(soak, rng, topic, Listener(ears), mouth)
        for client in (ears, mouth):
            if client is not None:
                await client.finish()


async def publish(soak: Soak, rng: random.Random, topic: str, listener: Listener, mouth: Client) -> None:
    pattern = rng.choice((topic, topic[:-1] + "*"))
    answer = await listener.client.call("bridge.subscribe", {"events": [pattern]})
    if answer is None or answer.failed:
        return
    slow = rng.random() < 0.3
    if slow:
        listener.client.pause()
    published = 0
    for _ in range(rng.randint(1, 30)):
        if soak.over or mouth.ended:
            break
        burst = []
        for _ in range(rng.randint(1, 100)):
            published += 1
            data = {"n": published, "text": "t" * (3000 if slow else rng.choice((1, 1, 1000)))}
            burst.append(mouth.prepare("bridge.publish", {"event": topic, "data": data}, NATIVE)[1])
        mouth.send(*burst)
        await mouth.below(0)
    listener.client.resume()
    await came(soak, listener, published, mouth)


async def came(soak: Soak, listener: Listener, published: int, mouth: Client) -> None:
    """Waits until all published events have arrived."""
    if mouth.ended:
        return
    if not await listener.client.until(lambda: listener.received + listener.dropped >= published, soak.grace):
        if not listener.client.ended and not (mouth.life and mouth.life.stopping):
            listener.client.broke(f"of {published} events {listener.received} came, and {listener.dropped} were said "
                                  "to be dropped")
        return
    soak.promises.count["events"] += listener.received
    soak.promises.count["events dropped"] += listener.dropped
    if listener.received + listener.dropped > published:
        listener.client.broke(f"{published} events became {listener.received} and {listener.dropped} dropped")


USERS = 4


def password(user: int) -> str:
    return f"a password of {user}"


async def add_users(client: Client) -> None:
    for user in range(USERS):
        answer = await client.call("login.users.add", {"user": f"user{user}", "password": password(user)},
                                   may=("user.exists",))
        assert answer is not None, "the daemon has gone"


async def logins(soak: Soak, name: str) -> None:
    """Logs in by password and by token, requests the user, and logs out."""
    rng = soak.random(name)
    while not soak.over:
        client = await soak.connect(name)
        if client is None:
            return
        await log_in(client, rng, soak)
        await client.finish()
        await soak.pause(rng.random())


async def log_in(client: Client, rng: random.Random, soak: Soak) -> None:
    may = CRASHES if soak.may_crash("login") else frozenset()
    user = rng.randrange(USERS)
    crashed = False

    async def ask(task: str, options: Any, **more: Any) -> Incoming | None:
        nonlocal crashed
        answer = await client.call(task, options, may=may, **more)
        crashed = crashed or answer is None or answer.failed
        return answer

    given = await ask("login", {"user": f"user{user}", "password": password(user)})
    if given is None or given.failed:
        return
    token = given.body["token"]
    for _ in range(rng.randint(1, 10)):
        await ask("login", {"token": token})
        who = await ask("login.status", {})
        if not crashed and who is not None and who.body.get("user") != f"user{user}":
            client.broke(f"logged in as user{user}, and login.status says {who.body}")
    if rng.random() < 0.5:
        gone = await ask("logout", {})
        if not crashed and gone is not None:
            await client.call("login", {"token": token}, must=may | {"login.failed"})


