"""The common state of a run: the daemon, the clients, the counts, the round."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path
from typing import Optional

from client import Client
from daemon import SHIPPED, Daemon
from ledger import End, Ledger
from promises import Promises

WORKERS = ("frail", "pooled", "soak")
"""The soak's own plugins, each in a process of its own, which are crashed."""


class Soak:
    """One run."""

    def __init__(self, daemon: Daemon, promises: Promises, seed: int, grace: float, socket: str = "") -> None:
        self.daemon = daemon
        self.promises = promises
        self.seed = seed
        self.grace = grace
        """The seconds by which a callback may be later than its call's deadline, on a loaded machine."""
        self.socket = socket or daemon.socket
        """The socket to which clients connect: the daemon's, or that of a stand-in."""
        self.clients: set[Client] = set()
        self.round = 0
        self.round_ends = 0.0

    @property
    def folder(self) -> Path:
        return self.daemon.folder

    @property
    def over(self) -> bool:
        """Whether no more work may begin in this round."""
        return time.monotonic() > self.round_ends or self.promises.broken_count > 0

    def random(self, name: str) -> random.Random:
        """Returns a generator that depends only on the seed, the round and the name."""
        return random.Random(f"{self.seed}/{self.round}/{name}")

    def may_crash(self, plugin: str) -> bool:
        """Whether calls to a plugin may end with its crash."""
        life = self.daemon.life
        return plugin in WORKERS or plugin in SHIPPED and life is not None and life.isolated

    async def connect(self, name: str) -> Optional[Client]:
        """Connects as soon as a daemon runs; returns None if the round was over first."""
        while not self.over:
            client = await self.connect_once(name)
            if client is not None:
                return client
            try:
                await asyncio.wait_for(self.daemon.another(), max(0, self.round_ends - time.monotonic()))
            except asyncio.TimeoutError:
                pass  # The round is over.
        return None

    async def pause(self, seconds: float) -> None:
        """Spreads the load over the round. It waits for no event, only for the time itself."""
        await asyncio.sleep(seconds)

    async def connect_once(self, name: str) -> Optional[Client]:
        client = Client(self, name)
        try:
            await client.connect()
        except OSError:
            return None
        return client

    def book(self, ledger: Ledger, end: End, owed: int) -> None:
        """Adds the counts of a client to the totals."""
        count = self.promises.count
        count["connections"] += 1
        count["calls"] += ledger.calls
        count["callbacks"] += ledger.callbacks
        count["refusals"] += ledger.refusals
        count[f"owed at the end ({end})"] += owed

    def totals(self) -> tuple[int, int]:
        """Returns the calls and callbacks so far, with those of connected clients."""
        calls, callbacks = self.promises.count["calls"], self.promises.count["callbacks"]
        for client in self.clients:
            calls += client.ledger.calls
            callbacks += client.ledger.callbacks
        return calls, callbacks

    async def watch_over(self) -> None:
        """Finds calls without callbacks, until it is cancelled. It checks periodically, because deadlines depend on the
        clock."""
        while True:
            await asyncio.sleep(0.5)
            now = time.monotonic()
            for client in list(self.clients):
                if client.is_counted:
                    client.ledger.overdue(now, self.grace)
                    client.wake()
