"""Rounds: load and disturbances for the daemon, then rest, in which remaining objects are counted and measured."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Any, Coroutine, Iterator, Optional

import sampler
from callers import caller
from chaos import chaos, children, is_zombie
from dialects import Incoming
from hostile import hostile
from providers import add_users, events, logins, provider
from records import Table, audit, writer
from sampler import LifeFigures
from soak import Soak
from watchers import Feed, watcher


@dataclass(frozen=True)
class Plan:
    """The durations of all parts, derived from the length of the run."""

    seconds: float

    @property
    def round(self) -> float:
        return min(15.0, max(2.0, self.seconds / 5))

    @property
    def rest(self) -> float:
        """The daemon releases memory for two seconds after it sent many bytes; short runs do not wait for that."""
        return 2.5 if self.round >= 10 else 0.1

    def restarts(self) -> Iterator[float]:
        """The times of the daemon's restarts: one long life, for its slopes, and then short ones."""
        at = 0.0
        while True:
            at += min(self.seconds / 2, 7200)
            yield at
            for _ in range(7):
                at += max(self.round, min(self.seconds / 16, 900))
                yield at


class Rounds:
    """One run, round by round."""

    def __init__(self, soak: Soak, plan: Plan) -> None:
        self.soak = soak
        self.plan = plan
        self.tables = [Table(f"table{number}") for number in range(4)]
        self.feeds = [Feed(f"feed{number}") for number in range(2)]
        self.lives: list[LifeFigures] = []
        self.stopped = False
        self._random = random.Random(f"{soak.seed}/restarts")
        self._restarts = plan.restarts()
        self._next_restart = next(self._restarts)
        self._began = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    async def run(self) -> None:
        """Runs all rounds, until the time is over or a promise was broken."""
        await self._start()
        background = [asyncio.ensure_future(self.soak.watch_over()), asyncio.ensure_future(self._sample())]
        try:
            await self._add_users()
            while self.elapsed < self.plan.seconds and not self.stopped and not self.soak.promises.broken_count:
                await self._round()
            if not self.soak.promises.broken_count:
                await self._last_audit()
        finally:
            for task in background:
                task.cancel()
            await self._end()

    def stop(self) -> None:
        """Ends early, in order."""
        self.stopped = True
        self.soak.round_ends = 0

    async def _round(self) -> None:
        soak = self.soak
        soak.round += 1
        soak.round_ends = time.monotonic() + min(self.plan.round, max(1.0, self.plan.seconds - self.elapsed))
        self._place()
        restart = asyncio.ensure_future(self._restart_if_due())
        results = await asyncio.gather(*self._actors(), return_exceptions=True)
        await restart
        for result in results:
            if isinstance(result, BaseException):
                raise result
        await self._rest()

    def _place(self) -> None:
        life = self.soak.daemon.life
        self.soak.promises.place = f"round {self.soak.round}, life {life.number if life else 0}"

    def _actors(self) -> list[Coroutine[Any, Any, None]]:
        soak = self.soak
        return [
            *[caller(soak, f"caller{number}") for number in range(8)],
            *[provider(soak, f"provider{number}") for number in range(2)],
            *[events(soak, f"events{number}") for number in range(2)],
            *[hostile(soak, f"hostile{number}") for number in range(4)],
            *[writer(soak, table) for table in self.tables],
            *[watcher(soak, feed) for feed in self.feeds],
            logins(soak, "logins"),
            chaos(soak, min(2.0, self.plan.round / 8)),
        ]

    # The daemon's lives

    async def _start(self) -> None:
        isolated = self.soak.daemon.lives % 2 == 1
        life = await self.soak.daemon.start(isolated)
        self.lives.append(LifeFigures(life.number, isolated))
        self._place()

    async def _restart_if_due(self) -> None:
        """Ends the daemon at a random time in the round, if a restart is due, and starts another one."""
        if self.elapsed + self.plan.round < self._next_restart:
            return
        self._next_restart = next(self._restarts)
        await self.soak.pause(self._random.uniform(0.1, 0.7) * self.plan.round)
        if self.soak.promises.broken_count:
            return
        if self.soak.daemon.lives % 2:
            await self.soak.daemon.kill()
            self.lives[-1].end = "SIGKILL"
        else:
            await self.soak.daemon.stop()
            self.lives[-1].end = "SIGTERM"
        await self._start()

    async def _end(self) -> None:
        for client in list(self.soak.clients):
            client.is_counted = False
            client.leave()
        life = self.soak.daemon.life
        if life is not None and life.process.returncode is None:
            await self.soak.daemon.stop()
            self.lives[-1].end = "SIGTERM"

    # Rest

    async def _rest(self) -> None:
        """Checks the status while no other client is connected: no object of other clients may remain."""
        soak = self.soak
        if soak.promises.broken_count:
            return
        soak.round_ends = 0
        for client in list(soak.clients):
            client.broke("a client of the soak's own was left over")
        if await self._is_quiet():
            await audit(soak, self.tables)
            await soak.pause(self.plan.rest)
            self._take(at_rest=True)

    async def _is_quiet(self) -> bool:
        client = await self.soak.connect_once("the one who asks at rest")
        if client is None:
            self.soak.promises.broke("the daemon", "nobody can connect", self.soak.daemon.log_lines())
            return False
        closed = 0

        def heard(event: Incoming) -> None:
            nonlocal closed
            closed += event.name == "session.closed"

        client.on_event = heard
        await client.call("bridge.subscribe", {"events": ["session.closed"]})
        left: Optional[str] = "unknown"
        end = time.monotonic() + self.soak.grace
        while left and time.monotonic() < end:
            known = closed
            status = await client.call("bridge.status", {})
            if status is None or status.failed:
                break
            left = self._left(status.body)
            if status.body["sessions"] > 1:
                await client.until(lambda: closed > known, end - time.monotonic())
            # All other remaining objects are removed within the next turns of the daemon's loop, and each call waits
            # for one.
        if left:
            client.broke(f"at rest there are still {left}")
        elif status is not None and not client.ended:
            self._check_turns(status.body["longTurns"])
        await client.finish()
        return not left

    @staticmethod
    def _left(status: dict[str, Any]) -> str:
        """Returns the objects that the daemon has apart from the client that requests the status."""
        alone = {"sessions": 1, "callsInFlight": 1, "waitingCalls": 0, "queuedBytes": 0, "queuedEvents": 0,
                 "monitors": 0}
        found = [f"{status[name]} {name}" for name, number in alone.items() if status[name] != number]
        # The daemon may not have waited yet for a process that has just ended.
        zombies = [pid for pid in children(status["pid"]) if is_zombie(pid)]
        return ", ".join(found + [f"the ended process {pid}" for pid in zombies])

    def _check_turns(self, turns: dict[str, Any]) -> None:
        """Checks that no turn of the loop was too long. The daemon of a debug build is slow by itself."""
        if turns["count"] and "debug" not in self.soak.daemon.products.parts:
            self.soak.promises.broke(
                "the daemon", f"{turns['count']} turns of its loop took more than 20 ms of CPU time: {turns['steps']}",
                self.soak.daemon.log_lines())

    async def _last_audit(self) -> None:
        """Checks that acknowledged writes exist after a kill, too."""
        self.soak.promises.place = "the last audit"
        await self.soak.daemon.kill()
        self.lives[-1].end = "SIGKILL"
        await self._start()
        await audit(self.soak, self.tables)

    async def _add_users(self) -> None:
        client = await self.soak.connect_once("the one who adds users")
        if client is not None:
            await add_users(client)
            await client.finish()

    # Measuring

    async def _sample(self) -> None:
        while True:
            await asyncio.sleep(1)  # Figures over time: a sample each second.
            self._take(at_rest=False)

    def _take(self, at_rest: bool) -> None:
        life = self.soak.daemon.life
        if life is None or life.stopping:
            return
        sample = sampler.take(life.pid, life.began, at_rest)
        if sample is not None:
            self.lives[-1].samples.append(sample)
