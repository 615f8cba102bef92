"""Clients that are slow, malicious, or end abruptly. While they are connected, their callbacks are counted as
strictly."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from callers import OFFER
from client import WORKER, Client
from soak import Soak

LINE_BYTES = 1 << 20
"""`limits.message_bytes`."""

CALLS = 1024
"""`limits.calls_in_flight`."""


async def hostile(soak: Soak, name: str) -> None:
    """Does one hostile action after the other."""
    rng = soak.random(name)
    while not soak.over:
        act = rng.choices(ACTS, WEIGHTS)[0]
        client = await soak.connect(f"{name}, {act.__name__}")
        if client is None:
            return
        soak.promises.count[f"hostile: {act.__name__}"] += 1
        await act(soak, client, rng)
        if not client.ended:
            await client.finish()
        await soak.pause(rng.random() * 0.2)


async def slow_reader(soak: Soak, client: Client, rng: random.Random) -> None:
    """Requests many messages, and reads them late: it must still receive all of them."""
    client.pause()
    for _ in range(rng.randint(50, 400)):
        options = {"text": "s" * 8000}
        client.start("Echo", options, check=options.__eq__)
    await soak.pause(rng.uniform(0.2, 2))
    client.resume()
    await client.below(0)


async def never_reads(soak: Soak, client: Client, rng: random.Random) -> None:
    """Never reads: the daemon closes the connection, and other clients are not affected."""
    client.is_counted = False
    client.pause()
    for _ in range(700):
        client.start("Echo", {"text": "n" * 10_000})
    # Longer than `limits.stalled`.
    for _ in range(rng.choice((5, 100))):
        if soak.over:
            break
        await soak.pause(0.1)
    client.leave()


async def garbage(soak: Soak, client: Client, rng: random.Random) -> None:
    """Sends lines that are not messages: each is refused, and the connection continues."""
    for _ in range(rng.randint(1, 50)):
        bad = rng.choice((
            b"\xff\xfe garbage", b'{"hello":"world"}', b'{"task":7}', b"[" * 200, b'"text"', b"{", b"[]",
            b'{"event":"a"}', b'{"task":"Echo","result":1}',
            b"%" + rng.randbytes(rng.randint(1, 2000)).replace(b"\n", b"")))
        client.ledger.refusals_due += 1
        client.send_bytes(bad + b"\n")
        if rng.random() < 0.3:
            client.start("Echo", {"after": "garbage"}, check={"after": "garbage"}.__eq__)


async def gigantic(soak: Soak, client: Client, rng: random.Random) -> None:
    """Sends lines that are too long."""
    client.is_prompt = False
    for _ in range(rng.randint(1, 3)):
        client.ledger.refusals_due += 1
        client.send_bytes(b'{"text":"' + b"g" * rng.randint(LINE_BYTES, 3 * LINE_BYTES) + b'"}\n')
        client.start("Echo", {"after": "much"}, check={"after": "much"}.__eq__)
        await client.below(0)


async def duplicate_ids(soak: Soak, client: Client, rng: random.Random) -> None:
    """Reuses the id of a call in flight: the new call is refused without ending the old one."""
    call, message = client.prepare("soak.wait", {}, may=WORKER, timeout=60_000)
    client.send(message)
    await client.call("Echo", {})
    client.ledger.duplicated.add(call.number)
    for _ in range(rng.randint(1, 10)):
        client.ledger.refusals_due += 1
        client.send({"task": "no.such", "options": {}, "callbackId": call.number})
    client.cancel(call)
    await client.below(0)


async def flood(soak: Soak, client: Client, rng: random.Random) -> None:
    """Makes more calls at once than allowed: the excess calls are `busy`, and every call ends."""
    client.is_prompt = False
    calls = [client.start("soak.wait", {}, may=WORKER, timeout=60_000)
             for _ in range(CALLS + rng.randint(1, 1000))]
    for call in calls:
        if call.number in client.ledger.open:
            client.cancel(call)
    await client.below(0)


async def half_line(soak: Soak, client: Client, rng: random.Random) -> None:
    """Ends in the middle of a message."""
    client.start("Echo", {}, check={}.__eq__)
    client.send_bytes(b'{"task":"Echo","options":{"half')
    if rng.random() < 0.5:
        client.ledger.refusals_due += 1
        await client.finish()
    else:
        client.leave()


async def half_close(soak: Soak, client: Client, rng: random.Random) -> None:
    """Shuts down its side with calls in flight: each is still answered."""
    for _ in range(rng.randint(1, 100)):
        client.start("soak.work", {"ms": rng.randint(0, 100), "value": 1}, may=WORKER)
    await client.finish()


async def comes_and_goes(soak: Soak, client: Client, rng: random.Random) -> None:
    client.leave()
    for _ in range(rng.randint(1, 30)):
        another = await soak.connect_once(f"{client.name}, again")
        if another is not None:
            if rng.random() < 0.5:
                another.start("soak.wait", {})
            another.leave()


async def dies(soak: Soak, client: Client, rng: random.Random) -> None:
    """Closes its descriptor with calls in flight, which are cancelled."""
    for _ in range(rng.randint(1, 200)):
        task = rng.choice(("Echo", "soak.wait", "soak.work", "offer", "frail.wait"))
        client.start(task, {"ms": 30, "act": "never", "value": 1}, may=WORKER | OFFER)
    if rng.random() < 0.5:
        await soak.pause(rng.random() * 0.1)
    client.leave()


async def watches_traffic(soak: Soak, client: Client, rng: random.Random) -> None:
    """Monitors all messages as an operator, and reads slowly."""
    answer = await client.call("bridge.monitor", {"payloadBytes": rng.choice((1, 1024))})
    for _ in range(rng.randint(1, 10)):
        if soak.over or client.ended or answer is None:
            break
        client.pause()
        await soak.pause(0.1)
        client.resume()
        await soak.pause(0.01)


async def killed(soak: Soak, client: Client, rng: random.Random) -> None:
    """Starts a process that is killed during calls; see victim.py. The client of this function is not used."""
    client.leave()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("victim.py")), soak.socket, str(rng.getrandbits(30)),
        stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    await process.stdout.readline()  # The process has calls in flight.
    await soak.pause(rng.random() * 0.2)
    if process.returncode is None:
        process.kill()
    await process.wait()


ACTS = (slow_reader, never_reads, garbage, gigantic, duplicate_ids, flood, half_line, half_close, comes_and_goes, dies,
        watches_traffic, killed)
WEIGHTS = (4, 1, 6, 3, 4, 2, 6, 5, 4, 8, 3, 1)
