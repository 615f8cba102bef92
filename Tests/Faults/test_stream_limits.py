"""Transfers by streams while descriptors are exhausted, processors are busy, and the daemon is restarted."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from itertools import islice
from typing import Any

from daemon import Daemon, Home
from report import FaultTest
from settings import ROUNDS, SEED
from stream_ends import GONE, BridgeError, EndProcess, Plan, calling

# The errors of an end that is cut by a restart: of the stream, of the call, or of the connection.
LOST = [*GONE, "daemon.stopping", "session.closed", "ConnectionResetError", "BrokenPipeError"]
PROMISED = ("each end gets an error or is complete, and then with every byte; the bytes read are a prefix; the "
            "daemon stops in time, with status 0")
WAYS = [("messages", "messages"), ("descriptor", "messages"), ("messages", "descriptor"), ("descriptor", "descriptor")]


class Transfer:
    """A stream between two processes."""

    def __init__(self, home: Home, ways: tuple[str, str], data: bytes, **cut: Any) -> None:
        """
        Args:
            cut: settings of Plan, for the writer's process (`write`) or the reader's (`read`).
        """
        names, taken = os.pipe(), os.pipe()
        plans = [Plan(home.socket, side, by, data, makes=side == "write", **cut.get(side, {}))
                 for side, by in zip(("write", "read"), ways)]
        self.ends = [EndProcess(plan, names, taken) for plan in plans]
        for descriptor in (*names, *taken):
            os.close(descriptor)

    def reports(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the reports of the writer and of the reader."""
        writer, reader = (end.report() for end in self.ends)
        assert writer is not None and reader is not None, f"one ended without a word: {writer}, {reader}"
        return writer, reader


class TransferTest(FaultTest):
    configuration = ""

    def setUp(self) -> None:
        self.home = Home(configuration=self.configuration)
        self.addCleanup(self.home.remove)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())
        self.random = random.Random(SEED)

    def check_complete(self, writer: dict[str, Any], reader: dict[str, Any], size: int, case: Any = None) -> None:
        self.assertEqual((writer["end"], reader["end"]), ("complete", "complete"), (case, writer, reader))
        self.assertTrue(reader["isBeginning"] and reader["count"] == size, (case, reader))


class FewDescriptors(TransferTest):
    def limit(self, count: int) -> None:
        resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (count, 4_096))

    def leave(self, count: int) -> None:
        """Limits the daemon to that number of free descriptors for clients; it keeps a reserve, of a quarter or 32."""
        used = {int(name) for name in os.listdir(f"/proc/{self.daemon.pid}/fd")}
        free = next(islice((number for number in range(4_096) if number not in used), count, None))
        self.limit(next(limit for limit in range(4_096) if limit - min(32, limit // 4) == free))

    def test_few(self) -> None:
        """Without descriptors attach is busy, messages transfer the bytes, and clients are served"""
        data = self.random.randbytes(3_000_000)
        refused = 0
        for number in range(ROUNDS):
            with ExitStack() as stack:
                bridge = stack.enter_context(self.daemon.connect())
                call = calling(bridge)
                name = call("bridge.stream.new", {})["stream"]
                # Room for no pipe, and then for the connections of a transfer.
                self.leave(1)
                with self.assertRaises(BridgeError) as raised:
                    call("bridge.stream.attach", {"stream": name})
                self.assertEqual(raised.exception.code, "busy")
                self.assertEqual(self.daemon.callback("Echo")["result"], {})
                call("bridge.stream.close", {"stream": name, "error": {"code": "test.over", "message": "over"}})
                self.leave(2)
                writer, reader = Transfer(self.home, ("descriptor", "descriptor"), data).reports()
                self.check_complete(writer, reader, len(data), number)
                refused += 1
                self.limit(4_096)
            self.assertEqual(self.daemon.callback("Echo")["result"], {})
        self.row("no descriptors left for the pipes of streams (`prlimit --nofile`)",
                 f"{ROUNDS} transfers of 3 MB between two processes that ask for descriptors",
                 "`bridge.stream.attach` is refused with `busy`; the client library uses messages, and the transfer "
                 "is complete; new clients are served",
                 f"{refused} refused, all transfers complete, each client served")


class BusyProcessors(TransferTest):
    def test_busy(self) -> None:
        """Four busy loops do not cut a transfer"""
        data = self.random.randbytes(32 << 20)
        with ExitStack() as stack:
            for _ in range(4):
                loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
                stack.callback(loop.kill)
            for number in range(ROUNDS):
                for ways in WAYS:
                    self.check_complete(*Transfer(self.home, ways, data).reports(), len(data), (number, ways))
        self.row("four processes that take all the time of two processors",
                 f"{ROUNDS * len(WAYS)} transfers of 32 MiB beside them, by messages, one descriptor and both",
                 "each is complete, with every byte", "as promised, each time")


class Restarts(TransferTest):
    configuration = 'drain_timeout = "2s"\n'

    def play(self, name: str, **environment: str) -> None:
        """Repeatedly stops the daemon at a random byte of a transfer, and starts another one."""
        self.bytes = self.random.randbytes(16 << 20)
        self.seen: Counter[str] = Counter()
        longest = 0.0
        for number in range(ROUNDS * 2):
            self.daemon.kill()
            self.daemon = Daemon.ready(self.home, **environment)
            longest = max(longest, self.restart(number, **environment))
        self.row(f"{name} at a random byte of a transfer of 16 MiB between two processes, of which one "
                 "stops reading or writing in half of the rounds", f"{ROUNDS * 2} times, by messages, one "
                 "descriptor and both", PROMISED,
                 f"{self.seen['complete']} ends complete, {self.seen['error']} with an error, "
                 f"each as promised; stopped within {longest:.1f} s")

    def restart(self, number: int, **environment: str) -> float:
        """Returns the time that the daemon took to stop."""
        ways, stops = self.random.choice(WAYS), self.random.choice(["write", "read"])
        at, stands = self.random.randint(1, len(self.bytes)), self.random.random() < 0.5
        cut = {"cut_at": at, "victim": self.daemon.pid, "signal": signal.SIGTERM, "stands": stands}
        transfer = Transfer(self.home, ways, self.bytes, **{stops: cut})
        self.assertEqual(self.daemon.wait(), 0, self.home.log[-2_000:])
        ended = time.monotonic()
        self.daemon = Daemon.ready(self.home, **environment)
        writer, reader = transfer.reports()
        case = f"round {number}: by {ways}, stopped by the {stops}r at {at}, {stands=}: {writer}, {reader}"
        self.assertTrue(reader["isBeginning"], case)
        ends = [writer["end"], reader["end"]]
        if "complete" in ends:
            self.assertEqual(reader["count"], len(self.bytes), case)
        for end in ends:
            self.assertIn(end, ["complete", *LOST], case)
            self.seen["complete" if end == "complete" else "error"] += 1
        self.assertEqual(self.daemon.result("bridge.status")["streams"], 0)
        self.assertEqual("were handed over" in self.home.log, "FDSTORE" in environment)
        return ended - (writer["cutTime"] or reader["cutTime"])

    def test_stopped(self) -> None:
        """A daemon that is stopped during transfers cuts none silently, and stops in time"""
        self.play("the daemon is stopped (SIGTERM, `drain_timeout` of 2 s)")

    def test_handed_over(self) -> None:
        """A daemon that hands its sessions over during transfers cuts none silently, and stops in time"""
        self.play("the daemon is restarted, and hands its sessions over (`drain_timeout` of 2 s)", FDSTORE="1")
