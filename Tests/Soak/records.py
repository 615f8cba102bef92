"""Records: the acknowledged and the unsure writes, compared with the store."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from client import CRASHES, Client
from dialects import JSONRPC, NATIVE, WEBVIEW, Incoming
from soak import Soak

KEYS = 120
GROUPS = 12
GROUP_KEYS = 5


@dataclass
class Table:
    """The state of a table as its only writer expects it."""

    name: str
    records: dict[str, Optional[int]] = field(default_factory=dict)
    """The last acknowledged value by key; None: deleted."""
    unsure: dict[str, set[Optional[int]]] = field(default_factory=dict)
    """The possible values of keys whose last write has an unknown result."""
    groups: dict[str, int] = field(default_factory=dict)
    """The last acknowledged value of keys that are only written together."""
    unsure_groups: dict[str, set[int]] = field(default_factory=dict)
    serial: int = 0

    def next_value(self) -> int:
        self.serial += 1
        return self.serial

    def keys_of(self, group: str) -> list[str]:
        return [f"{group}.{number}" for number in range(GROUP_KEYS)]


def may_have_begun(answer: Optional[Incoming]) -> bool:
    """Whether a write that did not succeed may have had its effect."""
    return answer is None or answer.started is True


class Writer:
    """A connection that writes to a table."""

    def __init__(self, soak: Soak, client: Client, table: Table, rng: random.Random) -> None:
        self.soak = soak
        self.client = client
        self.table = table
        self.rng = rng
        self.dialect = rng.choice((NATIVE, NATIVE, JSONRPC, WEBVIEW))
        self.may = CRASHES if soak.may_crash("persistence") else frozenset()

    async def call(self, task: str, options: Any, may: tuple[str, ...] = (), **more: Any) -> Optional[Incoming]:
        return await self.client.call(f"persistence.{task}", {"table": self.table.name, **options}, self.dialect,
                                      may=self.may | set(may), **more)

    async def write(self) -> None:
        """Writes one key once."""
        key = f"k{self.rng.randrange(KEYS)}"
        if not await self.settle(key):
            return
        old, new = self.table.records.get(key), self.table.next_value()
        record = {"value": new, "text": "r" * self.rng.choice((10, 100, 5000))}
        if old is None:
            answer = await self.call("create", {"key": key, "record": record}, **self.hurry())
        elif self.rng.random() < 0.2:
            answer = await self.call("delete", {"key": key}, **self.hurry())
            return self.wrote(key, old, None, answer)
        elif self.rng.random() < 0.5:
            answer = await self.call("update", {"key": key, "patch": {"value": new}}, **self.hurry())
        else:
            answer = await self.call("update", {"key": key, "record": record}, **self.hurry())
        self.wrote(key, old, new, answer)

    def hurry(self) -> dict[str, Any]:
        """Sometimes returns a deadline that is hardly enough."""
        return {"timeout": self.rng.randint(1, 5), "may": ("call.timeout",)} if self.rng.random() < 0.03 else {}

    def wrote(self, key: str, old: Optional[int], new: Optional[int], answer: Optional[Incoming]) -> None:
        if answer is not None and not answer.failed:
            self.table.records[key] = new
            self.soak.promises.count["acknowledged writes"] += 1
        elif may_have_begun(answer):
            self.table.unsure[key] = {old, new}
            self.soak.promises.count["writes of unknown end"] += 1

    async def settle(self, key: str) -> bool:
        """Determines the result of a key's last write. False if that is not possible now."""
        if key not in self.table.unsure:
            return True
        answer = await self.call("read", {"key": key}, may=("record.not_found",))
        if answer is None or answer.failed and answer.code != "record.not_found":
            return False
        value = None if answer.failed else answer.body["record"]["value"]
        if value not in self.table.unsure[key]:
            self.client.broke(f"{self.table.name}/{key} is {value}, and may only be one of {self.table.unsure[key]}")
        del self.table.unsure[key]
        self.table.records[key] = value
        return True

    async def read(self) -> None:
        key = f"k{self.rng.randrange(KEYS)}"
        if key in self.table.unsure or key not in self.table.records:
            return
        expected = self.table.records[key]
        answer = await self.call("read", {"key": key}, may=("record.not_found",))
        if answer is None or answer.failed and answer.code != "record.not_found":
            return
        value = None if answer.failed else answer.body["record"]["value"]
        if value != expected:
            self.client.broke(f"{self.table.name}/{key} is {value}; {expected} was acknowledged")

    async def transact(self) -> None:
        """Writes all keys of a group, or none: some transactions must fail at their end."""
        group = f"g{self.rng.randrange(GROUPS)}"
        if not await self.settle_group(group):
            return
        old, new = self.table.groups.get(group), self.table.next_value()
        table = self.table.name
        verb = "create" if old is None else "update"
        operations: list[Any] = [{verb: {"table": table, "key": key, "record": {"value": new, "group": group}}}
                                 for key in self.table.keys_of(group)]
        fails = self.rng.random() < 0.15
        if fails:
            operations.append({"update": {"table": table, "key": "no such key", "record": {}}})
        answer = await self.client.call(
            "persistence.transaction", {"operations": operations}, self.dialect,
            **({"must": self.may | {"record.not_found"}} if fails else {"may": self.may}))
        if answer is not None and not answer.failed:
            self.table.groups[group] = new
            self.soak.promises.count["acknowledged transactions"] += 1
        elif not fails and may_have_begun(answer):
            self.table.unsure_groups[group] = {old or 0, new}
            self.soak.promises.count["writes of unknown end"] += 1

    async def settle_group(self, group: str) -> bool:
        if group not in self.table.unsure_groups:
            return True
        found = await self.values()
        if found is None:
            return False
        value = self.check_group(group, found)
        del self.table.unsure_groups[group]
        if value:
            self.table.groups[group] = value
        return True

    def check_group(self, group: str, found: dict[str, int]) -> int:
        """Returns the value that all keys of a group have; 0 if there are none."""
        values = {found.get(key, 0) for key in self.table.keys_of(group)}
        allowed = self.table.unsure_groups.get(group, {self.table.groups.get(group, 0)})
        if len(values) != 1:
            self.client.broke(f"half a transaction: {self.table.name}/{group} has the values {sorted(values)}")
        elif not values <= allowed:
            self.client.broke(f"{self.table.name}/{group} is {values}, and may only be one of {allowed}")
        return max(values)

    async def values(self) -> Optional[dict[str, int]]:
        """Returns the whole table; None if it cannot be read now."""
        found: dict[str, int] = {}
        cursor: dict[str, Any] = {}
        while True:
            answer = await self.call("query", {"limit": 1000, **cursor})
            if answer is None or answer.failed:
                return None
            for record in answer.body["records"]:
                found[record["key"]] = record["record"]["value"]
            if "cursor" not in answer.body:
                return found
            cursor = {"cursor": answer.body["cursor"]}

    async def audit(self) -> bool:
        """Compares the whole table with the acknowledged writes. False if it could not be read."""
        found = await self.values()
        if found is None:
            return False
        for group in set(self.table.groups) | set(self.table.unsure_groups):
            self.check_group(group, found)
        for key in set(self.table.records) | set(self.table.unsure):
            allowed = self.table.unsure.get(key, {self.table.records.get(key)})
            if found.get(key) not in allowed:
                self.client.broke(f"{self.table.name}/{key} is {found.get(key)}, and may only be one of {allowed}")
        known = set(self.table.records) | set(self.table.unsure)
        for key in found:
            if key.startswith("k") and key not in known:
                self.client.broke(f"{self.table.name}/{key} is there, and was never written")
        self.soak.promises.count["audits of a table"] += 1
        return True


async def writer(soak: Soak, table: Table) -> None:
    """Writes, reads, and compares the table with the expected state."""
    rng = soak.random(table.name)
    while not soak.over:
        client = await soak.connect(f"the writer of {table.name}")
        if client is None:
            return
        at_work = Writer(soak, client, table, rng)
        for _ in range(rng.randint(20, 300)):
            if soak.over or client.ended:
                break
            act = rng.choices((at_work.write, at_work.read, at_work.transact), (10, 5, 2))[0]
            await act()
        await at_work.audit()
        await client.finish()


async def audit(soak: Soak, tables: list[Table]) -> None:
    """Compares every table with the acknowledged writes, without load."""
    client = await soak.connect_once("the auditor")
    if client is None:
        return soak.promises.broke("the auditor", "no daemon answers")
    starts = 0

    def heard(event: Incoming) -> None:
        nonlocal starts
        starts += event.name == "plugin.started" and event.body["name"] == "persistence"

    client.on_event = heard
    await client.call("bridge.subscribe", {"events": ["plugin.started"]})
    for table in tables:
        read, known = False, -1
        # The plugin's process may just have ended. Once it runs again, the table can be read.
        while not read and await client.until(lambda: starts > known, soak.grace):
            known = starts
            read = await Writer(soak, client, table, soak.random("audit")).audit()
        if not read and not client.ended:
            client.broke(f"{table.name} cannot be read")
    await client.finish()
