"""Checks that the daemon does not leak memory: the same cycles, once and five times, under valgrind.

leaks.py [--cycles 10]: a cycle connects, calls everything in every dialect, crashes and reloads a worker, reloads the
configuration, sends invalid bytes, and disconnects with calls in flight. The memory that valgrind counts after the end
of the daemon must not grow with the number of cycles: neither lost nor reachable memory.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from callers import OFFER
from client import ALL_DIALECTS, CRASHES, Client
from daemon import Daemon
from dialects import CAPACITOR, NATIVE, can_name
from main import ROOT
from promises import Promises
from providers import Offer
from soak import Soak

TIMES = 5

SUPPRESSIONS = Path(__file__).with_name("leaks.suppressions")
"""The memory that libraries keep within bounds, with the reasons."""

MOST_BYTES_A_CYCLE = 64
"""The maximum growth: less than any object of a connection, a call or a plugin's process, so that none of those can be
lost in each cycle. It is more than the differences of tables that double their size."""

LOOKED_FOR = ("definitely lost", "indirectly lost", "possibly lost", "still reachable")

GROUPS = {"lost": ("definitely lost", "indirectly lost"), "held": ("possibly lost", "still reachable")}
"""The sums that must not grow. Objects of Swift often have only pointers into their middle, or are only in a table that
was just moved: whether they count as possibly lost or still reachable differs from run to run."""

MOST_SHOWN = 12
"""The number of allocation sites that are shown."""

FRAMES = 10
"""The number of stack frames that identify an allocation site."""


@dataclass(frozen=True)
class Count:
    """The memory that valgrind counted as one kind."""

    size: int
    blocks: int


def read_summary(text: str) -> dict[str, Count]:
    """Returns the counts of valgrind's leak summary."""
    found = {}
    for kind in LOOKED_FOR:
        line = re.search(kind + r": ([\d,]+) bytes in ([\d,]+) blocks", text)
        if line is None:
            raise ValueError(f"valgrind says nothing of what is {kind}")
        found[kind] = Count(*(int(number.replace(",", "")) for number in line.groups()))
    return found


def read_places(text: str) -> dict[tuple[str, ...], Count]:
    """Returns the counted memory of each allocation site, identified by the innermost functions on the stack."""
    places: dict[tuple[str, ...], Count] = {}
    for paragraph in re.split(r"\n==\d+== \n", text):
        record = re.search(r"== ([\d,]+) (?:\([^)]*\) )?bytes in ([\d,]+) blocks are .* in loss record", paragraph)
        if record is None:
            continue
        size, blocks = (int(number.replace(",", "")) for number in record.groups())
        place = tuple(re.findall(r"(?:at|by) 0x[0-9A-F]+: (\S+)", paragraph)[:FRAMES])
        before = places.get(place, Count(0, 0))
        places[place] = Count(before.size + size, before.blocks + blocks)
    return places


class Cycles:
    """The cycles of actions on a daemon."""

    def __init__(self, soak: Soak) -> None:
        self.soak = soak

    async def connect(self, name: str) -> Client:
        client = await self.soak.connect_once(name)
        assert client is not None, "no daemon answers"
        return client

    async def cycle(self, number: int) -> None:
        await asyncio.gather(self.calls(number), self.records(number), self.events(), self.garbage(), self.dies())
        await self.offers()
        await self.operates(number)

    async def calls(self, number: int) -> None:
        """Makes calls in every dialect, to every plugin."""
        client = await self.connect("calls")
        for dialect in ALL_DIALECTS:
            for task, options in (("Echo", {"hello": "world"}), ("soak.work", {"steps": 3}), ("soak.echo", {"a": 1}),
                                  ("bridge.describe", {}), ("bridge.status", {}), ("bridge.metrics", {}),
                                  ("Alert", {"content": "x"})):
                if can_name(dialect, task, options):
                    client.start(task, options, dialect, progress=True)
        await client.below(0)
        for dialect in (NATIVE, CAPACITOR):
            call = client.start("soak.wait", {}, dialect)
            client.start("soak.wait", {}, dialect, timeout=5, must={"call.timeout"})
            client.cancel(call)
        client.start("no.such", {}, must={"task.not_found"})
        await client.below(0)
        await (client.closed_by_task() if number % 2 else client.finish())

    async def records(self, number: int) -> None:
        client = await self.connect("records")
        client.on_event = lambda event: None
        table = {"table": "cycles"}
        await client.call("persistence.watch", table)
        for task, options in (
                ("create", {"key": "a", "record": {"n": number}}), ("update", {"key": "a", "patch": {"m": 1}}),
                ("read", {"key": "a"}), ("query", {"where": {"n": number}}), ("delete", {"key": "a"})):
            await client.call(f"persistence.{task}", {**table, **options})
        operations = [{"create": {**table, "key": "b", "record": {}}}, {"delete": {**table, "key": "b"}}]
        await client.call("persistence.transaction", {"operations": operations})
        await client.finish()

    async def events(self) -> None:
        client = await self.connect("events")
        client.on_event = lambda event: None
        await client.call("bridge.subscribe", {"events": ["tide.*", "plugin.*"]})
        await client.call("bridge.monitor", {})
        for number in range(20):
            client.start("bridge.publish", {"event": "tide.cycle", "data": number})
        await client.below(0)
        await client.finish()

    async def garbage(self) -> None:
        client = await self.connect("garbage")
        for line in (b"{", b"\xff", b'{"hello":1}', b'{"text":"' + b"g" * (1 << 20) + b'"}'):
            client.ledger.refusals_due += 1
            client.send_bytes(line + b"\n")
        await client.call("Echo", {"text": "e" * 500_000})
        await client.finish()

    async def dies(self) -> None:
        """Disconnects with calls in flight."""
        client = await self.connect("dies")
        for task in ("soak.wait", "Echo", "offer", "pooled.wait", "persistence.query"):
            client.start(task, {"table": "cycles"}, may=OFFER)
        await client.call("Echo", {})
        client.leave()

    async def offers(self) -> None:
        """Provides a task, and disconnects with an open call."""
        provider, caller = await self.connect("provides"), await self.connect("calls the provider")
        offer = Offer(provider, self.soak.random("offers"))
        await provider.call("bridge.register", {"tasks": ["offer"]})
        for act in ("answer", "progress", "fail"):
            await caller.call("offer", {"act": act, "value": 1}, progress=True, may={"offer.failed"})
        lost = caller.start("offer", {"act": "never", "value": 1}, must={"provider.closed"})
        lost.waiter = asyncio.get_running_loop().create_future()
        waits = asyncio.ensure_future(offer.waits.wait())
        # The call ends only in an error case; its ledger then shows how.
        await asyncio.wait({waits, lost.waiter}, return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        provider.leave()
        await caller.finish()

    async def operates(self, number: int) -> None:
        """Crashes and reloads plugins."""
        client = await self.connect("the operator")
        how = ("exit", "signal", "garbage")[number % 3]
        await client.call("soak.crash", {"how": how}, must=CRASHES)
        for plugin in ("soak", "pooled"):
            await client.call("bridge.plugin.reload", {"name": plugin})
        self.soak.daemon.configure(False, call_timeout=("1200s", "1201s")[number % 2])
        await client.call("bridge.reload", {})
        await client.finish()


def without_debug_information(products: Path, folder: Path) -> Path:
    """Copies the daemon and its plugins without debug information. Valgrind before 3.20 fails on that of Swift."""
    copies = folder / "products"
    copies.mkdir()
    for file in [products / "trestled", products / "trestle-plugin-host", *products.glob("*.so")]:
        shutil.copy(file, copies)
        subprocess.run(["strip", "--strip-debug", str(copies / file.name)], check=True)
    return copies


async def measure(products: Path, cycles: int) -> tuple[dict[str, Count], str]:
    """Returns the counts of valgrind after that number of cycles, and its whole output."""
    folder = Path(tempfile.mkdtemp(prefix="trestle-leaks-"))
    log = folder / "valgrind"
    promises = Promises()
    # Without the search for uninitialised values it is twice as fast.
    under = ("valgrind", f"--suppressions={SUPPRESSIONS}", "--undef-value-errors=no", "--leak-check=full", "--show-leak-kinds=all",
             f"--num-callers={FRAMES}", f"--log-file={log}")
    daemon = Daemon(without_debug_information(products, folder), folder, promises, under)
    # Hashing a password takes longer under valgrind than the launch timeout.
    daemon.settings = 'plugins.disabled = ["login"]\n'
    # Everything else takes many times as long, too.
    soak = Soak(daemon, promises, seed=1, grace=1800)
    await daemon.start(isolated=False)
    work = Cycles(soak)
    began = time.monotonic()
    try:
        for number in range(cycles):
            await work.cycle(number)
    finally:
        await daemon.stop()
    if promises.broken:
        sys.exit("\n".join(str(entry) for entry in promises.broken))
    text = log.read_text()
    print(f"{cycles} cycles in {time.monotonic() - began:.0f} s", flush=True)
    shutil.rmtree(folder)
    return read_summary(text), text


def total(found: dict[str, Count], kinds: tuple[str, ...]) -> int:
    return sum(found[kind].size for kind in kinds)


def compare(once: dict[str, Count], often: dict[str, Count], more_cycles: int) -> bool:
    """Prints both, and returns whether no count grows."""
    print("| | 1 × | " + f"{TIMES} × | bytes for each further cycle |\n| --- | --- | --- | --- |")
    for kind in LOOKED_FOR:
        growth = (often[kind].size - once[kind].size) / more_cycles
        cells = [f"{count.size:,} bytes in {count.blocks:,} blocks" for count in (once[kind], often[kind])]
        print(f"| {kind} | {cells[0]} | {cells[1]} | {growth:+,.1f} |")
    grown = []
    for name, kinds in GROUPS.items():
        growth = (total(often, kinds) - total(once, kinds)) / more_cycles
        if growth > MOST_BYTES_A_CYCLE:
            grown.append(f"What is {name} grows by {growth:,.1f} bytes a cycle, more than {MOST_BYTES_A_CYCLE}.")
    print("\n".join(grown) or "Nothing grows.")
    return not grown


def show_growth(once: dict[tuple[str, ...], Count], often: dict[tuple[str, ...], Count]) -> None:
    """Prints the allocation sites with the largest growth, with their stacks."""
    nothing = Count(0, 0)
    more = {place: count.size - once.get(place, nothing).size for place, count in often.items()}
    for place in sorted(more, key=lambda place: -more[place])[:MOST_SHOWN]:
        blocks = often[place].blocks - once.get(place, nothing).blocks
        print(f"\n{more[place]:+,} bytes in {blocks:+,} blocks:")
        print("\n".join(f"    {function}" for function in place))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=10, help="of the shorter run (default: 10)")
    parser.add_argument("--products", type=Path, default=ROOT / ".build/release", help="where trestled and plugins are")
    settings = parser.parse_args()
    products = settings.products.resolve()
    once, text = asyncio.run(measure(products, settings.cycles))
    often, text_often = asyncio.run(measure(products, settings.cycles * TIMES))
    if not compare(once, often, settings.cycles * (TIMES - 1)):
        show_growth(read_places(text), read_places(text_often))
        sys.exit(1)


if __name__ == "__main__":
    main()
