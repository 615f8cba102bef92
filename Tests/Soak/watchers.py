"""Clients that watch a table: the feed contains every change, in order, also across lost connections."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

from client import CRASHES, Client
from dialects import Incoming
from soak import Soak

KEYS = 30


class Feed:
    """The last change of every key, from the feed. It is kept across connections."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.last = 0
        self.versions: dict[str, int] = {}
        self.missed = False
        """Whether events were dropped: the missed changes must be requested."""
        self.told_until = 0

    def hear(self, client: Client, event: Incoming) -> None:
        if event.name == "bridge.events_dropped":
            self.missed = True
        if event.name != "record.changed":
            return
        data = event.body
        if data["version"] <= self.last and not self.missed:
            client.broke(f"the feed of {self.table} sent version {data['version']} after {self.last}")
        if not self.missed:
            self.last = data["version"]
        self.versions[data["key"]] = data["version"]


async def watcher(soak: Soak, feed: Feed) -> None:
    """Writes on one connection and watches on another; then compares."""
    rng = soak.random(feed.table)
    while not soak.over:
        eyes, hand = await soak.connect(f"{feed.table}, watching"), await soak.connect(f"{feed.table}, writing")
        if eyes is not None and hand is not None:
            await watch(soak, feed, eyes, hand, rng.randint(1, 20), rng)
        for client in (eyes, hand):
            if client is not None:
                await client.finish()


async def watch(soak: Soak, feed: Feed, eyes: Client, hand: Client, bursts: int, rng: Any) -> None:
    may = CRASHES if soak.may_crash("persistence") else frozenset()
    eyes.on_event = lambda event: feed.hear(eyes, event)
    for _ in range(bursts):
        if soak.over or eyes.ended or hand.ended:
            return
        # A process that crashed has lost its watches. Watching again since the last version misses nothing.
        answer = await eyes.call("persistence.watch", {"table": feed.table, "since": feed.last}, may=may)
        if answer is None or answer.failed:
            continue
        feed.missed = False
        for _ in range(rng.randint(1, 30)):
            key = f"w{rng.randrange(KEYS)}"
            task = rng.choice(("create", "update", "delete"))
            options: dict[str, Any] = {"table": feed.table, "key": key}
            if task != "delete":
                options["record"] = {"value": rng.getrandbits(20)}
            hand.start(f"persistence.{task}", options, may=may | {"record.exists", "record.not_found"})
        await hand.below(0)
        await compare(soak, feed, eyes, hand, may)


async def compare(soak: Soak, feed: Feed, eyes: Client, hand: Client, may: frozenset[str]) -> None:
    """Compares the feed with the content of the table."""
    answer = await hand.call("persistence.query", {"table": feed.table, "limit": 1000}, may=may)
    if answer is None or answer.failed or may:
        return  # In a process that may crash, the watch may no longer exist.
    there = {record["key"]: record["version"] for record in answer.body["records"]}

    def wrong() -> Optional[str]:
        return next((f"{key} has version {version}, and the feed showed {feed.versions.get(key)}"
                     for key, version in there.items() if feed.versions.get(key) != version), None)

    await eyes.until(lambda: feed.missed or wrong() is None, soak.grace)
    if feed.missed or eyes.ended:
        return
    if wrong() and not (hand.ended or (eyes.life and eyes.life.stopping)):
        eyes.broke(f"the feed of {feed.table} missed a change: {wrong()}")
    soak.promises.count["feeds compared"] += 1
