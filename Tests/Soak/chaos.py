"""Events that affect the daemon while its clients are active: crashes, reloads, and its own end."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Awaitable, Callable

from client import CRASHES, WORKER, Client
from soak import WORKERS, Soak

LIBRARY_RELOADS = 3
"""The maximum in one life of the daemon: an old version of a library is never unloaded, so each costs memory, by
design."""

IN_PROCESS = ("echo", "login", "persistence", "alert")


async def chaos(soak: Soak, pause: float) -> None:
    """Causes one event after the other, until the round is over."""
    rng = soak.random("chaos")
    while not soak.over:
        client = await soak.connect("the operator")
        if client is None:
            return
        for _ in range(rng.randint(1, 10)):
            await soak.pause(rng.uniform(0.2, 1.8) * pause)
            if soak.over or client.ended:
                break
            await rng.choices(ACTS, WEIGHTS)[0](soak, client, rng)
        await client.finish()


async def crash(soak: Soak, client: Client, rng: random.Random) -> None:
    """Makes a worker end during its calls, by a fault of its own."""
    how = rng.choice(("exit", "signal", "garbage"))
    await client.call(f"{rng.choice(WORKERS)}.crash", {"how": how}, must=WORKER)
    soak.promises.count["crashes"] += 1


def children(pid: int) -> list[int]:
    """Returns the processes that a process has started, and for which it has not waited."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in thread.read_text().split()]
        except OSError:
            pass  # The thread has ended.
    return found


def is_zombie(pid: int) -> bool:
    """Whether a process has ended, and was not waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


async def kill_worker(soak: Soak, client: Client, rng: random.Random) -> None:
    """Kills any child process of the daemon, including those of shipped plugins."""
    if client.life is None or client.life.stopping:
        return
    found = sorted(children(client.life.pid))
    if found:
        try:
            os.kill(rng.choice(found), signal.SIGKILL)
        except ProcessLookupError:
            return
        soak.promises.count["workers killed"] += 1


async def reload_worker(soak: Soak, client: Client, rng: random.Random) -> None:
    await client.call("bridge.plugin.reload", {"name": rng.choice(WORKERS)}, may=CRASHES)
    soak.promises.count["plugin reloads"] += 1


async def bring_back(soak: Soak, client: Client, rng: random.Random) -> None:
    """Reloads the plugins that the daemon has given up because they crashed too often."""
    answer = await client.call("bridge.plugins", {})
    if answer is None or answer.failed:
        return
    for plugin in answer.body["plugins"]:
        if plugin["state"] not in ("running", "refused"):
            await client.call("bridge.plugin.reload", {"name": plugin["name"]}, may=CRASHES)
            soak.promises.count["plugins brought back"] += 1


async def reload_library(soak: Soak, client: Client, rng: random.Random) -> None:
    life = client.life
    if life is None or life.library_reloads >= LIBRARY_RELOADS:
        return await reload_worker(soak, client, rng)
    life.library_reloads += 1
    name = rng.choice(IN_PROCESS)
    await client.call("bridge.plugin.reload", {"name": name}, may=CRASHES if soak.may_crash(name) else ())
    soak.promises.count["library reloads"] += 1


async def reload_configuration(soak: Soak, client: Client, rng: random.Random) -> None:
    """Reloads valid configurations, by task and by signal, and invalid ones, which have no effect."""
    if client.life is None or client.life.stopping:
        return
    isolated = client.life.isolated
    bad = rng.random() < 0.3
    soak.daemon.configure(isolated, rng.choice(("20s", "25s", "30s")), rng.choice(("notice", "warning")),
                          rng.choice(("3s", "4s")), "nonsense = 1\n" if bad else "")
    if rng.random() < 0.3:
        os.kill(client.life.pid, signal.SIGHUP)
    # A reload by the signal may still be in progress; this one runs after it, so the file has been read by then.
    await client.call("bridge.reload", {}, must={"configuration.invalid"} if bad else ())
    soak.daemon.configure(isolated)
    soak.promises.count["configuration reloads"] += 1


Act = Callable[[Soak, Client, random.Random], Awaitable[None]]
ACTS: tuple[Act, ...] = (crash, kill_worker, reload_worker, reload_library, reload_configuration, bring_back)
WEIGHTS = (4, 2, 3, 1, 3, 3)
