"""Well-behaved clients that make calls: every dialect, results, progress, cancellations, deadlines, errors, batches."""

from __future__ import annotations

import random
from typing import Any, Awaitable, Callable

import dialects
from client import ALL_DIALECTS, CRASHES, WORKER, Client
from dialects import CAPACITOR, FUNCTION, JSONRPC, NATIVE, URL, WEBVIEW
from soak import Soak

IN_FLIGHT = 200
"""The maximum of open calls of one client: far below `limits.calls_in_flight`, so that none is `busy`."""

Step = Callable[[Client, random.Random], Awaitable[None]]

OFFER = frozenset({"task.not_found", "provider.closed", "offer.failed", "reply.invalid", "busy"})
"""The errors that calls to other clients may end with: these connect and disconnect, and some send invalid answers."""


async def caller(soak: Soak, name: str) -> None:
    """Repeatedly connects, makes various calls, and disconnects in order."""
    rng = soak.random(name)
    while not soak.over:
        client = await soak.connect(name)
        if client is None:
            return
        for _ in range(rng.randint(5, 80)):
            step = rng.choices(STEPS, WEIGHTS)[0]
            if soak.over or client.ended:
                break
            await step(client, rng)
            await client.below(rng.choice((0, 0, 10, IN_FLIGHT // 4)))
        end = rng.random()
        if end < 0.05:
            client.leave()
        elif end < 0.12:
            await client.closed_by_task()
        else:
            if end < 0.5:
                await client.below(0)
            await client.finish()


async def echoes(client: Client, rng: random.Random) -> None:
    """Makes several small calls at once."""
    messages = []
    for _ in range(rng.choice((1, 4, 16, 64))):
        dialect = rng.choice((NATIVE, NATIVE, NATIVE, WEBVIEW, JSONRPC, URL, FUNCTION))
        options = {"hello": str(rng.getrandbits(40)), "of": client.name}
        messages.append(client.prepare("Echo", options, dialect, check=options.__eq__)[1])
    client.send(*messages)


async def large_echo(client: Client, rng: random.Random) -> None:
    size = rng.choice((1_000, 10_000, 60_000, 70_000, 200_000, 1_000_000))
    text = rng.choice("abcxyz") * size
    if size > 60_000:
        client.is_prompt = False  # More than a socket holds: a daemon that stops waits a second for its reader.
    await client.call("Echo", {"text": text}, rng.choice((NATIVE, JSONRPC, WEBVIEW)), check={"text": text}.__eq__)


async def batch(client: Client, rng: random.Random) -> None:
    """Makes several calls in one line: an array, whose calls are answered one by one, or a batch of JSON-RPC, answered
    by one."""
    dialect = rng.choice((NATIVE, JSONRPC))
    items: list[Any] = []
    for number in range(rng.randint(1, 12)):
        task, may = rng.choice((("Echo", ()), ("Echo", ()), ("soak.work", WORKER)))
        check = None if may else {"value": number}.__eq__
        items.append(client.prepare(task, {"value": number}, dialect, may=may, check=check)[1])
        if rng.random() < 0.2:
            items.append(dialects.call(dialect, None, "Echo", {"one": "way"}))
    client.send(items)


def is_work(value: Any, steps: int) -> Callable[[Any], bool]:
    return {"value": value, "steps": steps}.__eq__


async def work(client: Client, rng: random.Random) -> None:
    """Makes calls with progress, to plugins that crash now and then."""
    for _ in range(rng.randint(1, 8)):
        value, steps = rng.getrandbits(30), rng.choice((0, 0, 3, 20))
        options = {"value": value, "steps": steps, "ms": rng.choice((0, 1, 5, 50))}
        plugin = rng.choice(("soak", "soak", "frail", "pooled"))
        client.start(f"{plugin}.work", options, rng.choice((NATIVE, JSONRPC, WEBVIEW, FUNCTION, CAPACITOR)),
                     progress=steps > 0, may=WORKER, check=is_work(value, steps))


async def failing(client: Client, rng: random.Random) -> None:
    """Makes calls that must fail."""
    dialect = rng.choice(ALL_DIALECTS[:3])
    kind = rng.randrange(3)
    if kind == 0:
        client.start("no.such", {}, dialect, must=("task.not_found",))
    elif kind == 1:
        client.start("soak.work", {"fail": True}, dialect, must=WORKER | {"soak.failed"})
    else:
        client.start("bridge.describe", {"task": 12}, dialect, must=("options.invalid",))


async def cancelled(client: Client, rng: random.Random) -> None:
    dialect = rng.choice(ALL_DIALECTS if rng.random() < 0.5 else (NATIVE, JSONRPC))
    if dialect == URL:
        dialect = FUNCTION
    calls = [client.start("soak.wait", {}, dialect, may=WORKER) for _ in range(rng.randint(1, 10))]
    if rng.random() < 0.5:
        await client.call("Echo", {}, NATIVE)
    for call in calls:
        client.cancel(call)
        if rng.random() < 0.1:
            client.cancel(call)


async def timed_out(client: Client, rng: random.Random) -> None:
    """Makes calls whose deadlines pass, and some whose deadlines are close."""
    for _ in range(rng.randint(1, 5)):
        client.start("soak.wait", {}, timeout=rng.randint(1, 400), must=WORKER | {"call.timeout"})
        client.start("soak.work", {"ms": 20, "value": 1}, timeout=rng.randint(15, 60), may=WORKER | {"call.timeout"},
                     check=is_work(1, 0))


async def through_worker(client: Client, rng: random.Random) -> None:
    """Makes calls for which a plugin makes a call of its own."""
    options = {"n": rng.getrandbits(30)}
    plugin = rng.choice(("soak", "frail", "pooled"))
    client.start(f"{plugin}.echo", options, may=WORKER | {"call.cancelled"}, check=options.__eq__)


async def questions(client: Client, rng: random.Random) -> None:
    task = rng.choice(("bridge.ping", "bridge.tasks", "bridge.describe", "bridge.calls", "bridge.sessions",
                       "bridge.status", "bridge.plugins", "bridge.metrics", "rpc.discover", "bridge.hello"))
    client.start(task, {}, rng.choice((NATIVE, JSONRPC)))


async def one_way(client: Client, rng: random.Random) -> None:
    """Makes valid and invalid calls without answers."""
    client.send(*[dialects.call(dialect, None, task, {"n": 1}) for dialect, task in
                  ((NATIVE, "Echo"), (WEBVIEW, "soak.work"), (JSONRPC, "no.such"), (CAPACITOR, "frail.work"))])


async def alert(client: Client, rng: random.Random) -> None:
    may = CRASHES if client.soak.may_crash("alert") else ()
    client.start("Alert", {"content": "The soak is on.", "btn": "Fine"}, may=may,
                 check=lambda result: result["button"] == "Fine")


async def offered(client: Client, rng: random.Random) -> None:
    """Makes calls of a task that other clients provide."""
    for _ in range(rng.randint(1, 16)):
        act = rng.choices(("answer", "progress", "fail", "nonsense", "never"), (10, 3, 2, 1, 1))[0]
        value = rng.getrandbits(30)
        timeout = 300 if act == "never" else None
        may = OFFER | {"call.timeout"} if act == "never" else OFFER
        client.start("offer", {"act": act, "value": value}, rng.choice((NATIVE, JSONRPC)), timeout=timeout,
                     progress=act == "progress", may=may, check={"value": value}.__eq__)


STEPS: tuple[Step, ...] = (echoes, large_echo, batch, work, failing, cancelled, timed_out, through_worker, questions,
                           one_way, alert, offered)
WEIGHTS = (40, 2, 6, 12, 4, 5, 3, 4, 5, 3, 2, 10)
