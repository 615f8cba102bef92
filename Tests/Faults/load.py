"""Clients that write, and remember which records must exist, which must not, and which are unknown."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from daemon import Bridge

# Record numbers, by key; None: the record does not exist.
Change = dict[str, "int | None"]


def record(number: int) -> dict[str, Any]:
    """Returns a record. Every eighth is longer than a page of the database."""
    return {"number": number, "text": "r" * (9_000 if number % 8 == 0 else 40)}


@dataclass
class Ledger:
    """The expected content of a table with one client as its only writer."""

    table: str
    settled: dict[str, int] = field(default_factory=dict)
    # By callbackId: the changes sent and not answered. A key is in at most one of them.
    pending: dict[int, Change] = field(default_factory=dict)
    acknowledged: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def take(self, callback: dict[str, Any]) -> None:
        """Handles an answer: an acknowledged change is done, a refused one is not."""
        change = self.pending.pop(callback["callbackId"])
        if "error" in callback:
            self.refused[callback["error"]["code"]] += 1
            return
        self.acknowledged += 1
        self.apply(change)

    def apply(self, change: Change) -> None:
        for key, number in change.items():
            if number is None:
                del self.settled[key]
            else:
                self.settled[key] = number

    def check(self, bridge: Bridge) -> int:
        """Compares with the stored table: acknowledged changes exist, refused ones do not, and unanswered ones exist as
        a whole or not at all. The unanswered changes are settled from then on. Returns how many of them were done.
        """
        found = read_table(bridge, self.table)
        done = 0
        for change in self.pending.values():
            states = {found.get(key) == number for key, number in change.items()}
            assert len(states) == 1, f"{self.table}: half of {change} is there"
            if states == {True}:
                self.apply(change)
                done += 1
        self.pending.clear()
        missing = {key: number for key, number in self.settled.items() if found.get(key) != number}
        unasked = {key: number for key, number in found.items() if key not in self.settled}
        assert not missing, f"{self.table}: acknowledged, and not as it was written: {missing}"
        assert not unasked, f"{self.table}: there, and never acknowledged or undone: {unasked}"
        return done


def read_table(bridge: Bridge, table: str) -> dict[str, int]:
    """Returns the numbers of all records, each of which must be complete."""
    found: dict[str, int] = {}
    cursor: dict[str, str] = {}
    while True:
        message = bridge.call("persistence.query", {"table": table, "limit": 1_000, **cursor})
        assert "result" in message, message
        for entry in message["result"]["records"]:
            number = entry["record"]["number"]
            assert entry["record"] == record(number), f"{table}: the record {entry['key']} is torn"
            found[entry["key"]] = number
        if "cursor" not in message["result"]:
            return found
        cursor = {"cursor": message["result"]["cursor"]}


class Writer:
    """Sends changes without waiting for each: creates, updates, deletes, and transactions of three creates."""

    def __init__(self, bridge: Bridge, ledger: Ledger, seed: int, window: int = 32) -> None:
        self.bridge = bridge
        self.ledger = ledger
        self.window = window
        self.random = random.Random(seed)
        self.number = max(ledger.settled.values(), default=0)

    def run_until(self, count: int) -> None:
        """Writes until that number of changes was answered, with any result."""
        wanted = self.answered + count
        while self.answered < wanted:
            self.fill()
            self.take_one()

    def run(self) -> None:
        """Writes until the daemon has ended, and handles the answers that it sent before."""
        try:
            while True:
                self.fill()
                if not self.take_one():
                    return
        except OSError:
            self.take_rest()

    def finish(self) -> None:
        """Waits for the answers to all sent changes."""
        while self.ledger.pending:
            self.take_one()

    @property
    def answered(self) -> int:
        return self.ledger.acknowledged + self.ledger.refused.total()

    def fill(self) -> None:
        while len(self.ledger.pending) < self.window:
            self.send()

    def take_one(self) -> bool:
        callback = self.bridge.receive()
        if callback is not None:
            self.ledger.take(callback)
        return callback is not None

    def take_rest(self) -> None:
        try:
            while self.take_one():
                pass
        except OSError:
            pass

    def send(self) -> None:
        self.number += 1
        free = self.free_key()
        kind = self.random.choices(["create", "transaction", "update", "delete"], [5, 2, 2, 1])[0]
        if kind == "transaction":
            self.send_transaction()
        elif kind == "create" or free is None:
            self.post("persistence.create", self.create(f"{self.number}"), {f"{self.number}": self.number})
        elif kind == "update":
            options = {"table": self.ledger.table, "key": free, "record": record(self.number)}
            self.post("persistence.update", options, {free: self.number})
        else:
            self.post("persistence.delete", {"table": self.ledger.table, "key": free}, {free: None})

    def send_transaction(self) -> None:
        keys = [f"{self.number}.{part}" for part in range(3)]
        operations = [{"create": self.create(key)} for key in keys]
        self.post("persistence.transaction", {"operations": operations}, dict.fromkeys(keys, self.number))

    def create(self, key: str) -> dict[str, Any]:
        return {"table": self.ledger.table, "key": key, "record": record(self.number)}

    def post(self, task: str, options: Any, change: Change) -> None:
        # The number is recorded before the bytes are sent: a daemon that ends meanwhile may have made the change.
        number = next(self.bridge.numbers)
        self.ledger.pending[number] = change
        self.bridge.post(task, options, number)

    def free_key(self) -> str | None:
        """Returns a stored key that no pending change affects."""
        if not self.ledger.settled:
            return None
        busy = {key for change in self.ledger.pending.values() for key in change}
        key = self.random.choice(list(self.ledger.settled))
        return None if key in busy else key
