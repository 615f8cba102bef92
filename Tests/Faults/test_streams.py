"""Streams of which one end is cut off at any byte."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from daemon import Bridge, Daemon, Home
from report import FaultTest
from settings import CUTS, SEED, STREAMS
from stream_ends import GONE, EndProcess, MessageReader, MessageWriter, Plan, Side, calling

MAX_BYTES = 600_000


class StreamTest(FaultTest):
    """Starts a daemon, and checks that it keeps nothing of ended streams."""

    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())
        self.random = random.Random(SEED)
        self.bytes = self.random.randbytes(MAX_BYTES)
        self.watcher = self.daemon.connect()
        self.watcher.call("bridge.ping")
        self.descriptors = self.daemon.descriptors()

    def check_nothing_left(self) -> None:
        self.daemon.ask_until(
            "nothing is left", self.watcher,
            lambda status: not status["streams"] and not status["streamBytes"] and status["sessions"] == 1
            and not status["queuedBytes"] and self.daemon.descriptors() == self.descriptors)

    def size(self) -> int:
        return self.random.choice([0, 1, self.random.randrange(100), self.random.randrange(MAX_BYTES)])


class Cuts(StreamTest):
    def test_cuts(self) -> None:
        """A stream whose writer or reader ends at any byte is not reported as complete, and leaves nothing"""
        ends = {"complete": 0, "cut": 0}
        for number in range(CUTS):
            ends[self.play(number)] += 1
        self.check_nothing_left()
        self.assertGreater(min(ends.values()), 0)
        self.row("one end of a stream is closed at a random byte", f"{CUTS} times, either end, made by either",
                 "the other end gets an error after the bytes that arrived; complete only where nothing was cut; "
                 "nothing is left in the daemon",
                 f"{ends['cut']} cut, {ends['complete']} complete, each as promised; "
                 "no stream, byte or descriptor left")

    def play(self, number: int) -> str:
        """Plays one stream. Returns whether it was cut."""
        size = self.size()
        victim = self.random.choice(["writer", "reader", "none"])
        # A side that never uses the name makes the other side wait for a minute.
        cut_at = self.random.randint(1, max(1, size))
        data = self.bytes[:size]
        bridges = [self.daemon.connect(), self.daemon.connect()]
        writer = Side(cut_at if victim == "writer" else None, bridges[0].__exit__)
        reader = Side(cut_at if victim == "reader" else None, bridges[1].__exit__)
        maker, side = self.random.choice([(bridges[0], "write"), (bridges[1], "read")])
        stream = maker.call("bridge.stream.new", {"side": side})["result"]["stream"]
        threads = [threading.Thread(target=writer.write, args=(MessageWriter(calling(bridges[0]), stream), data)),
                   threading.Thread(target=reader.read, args=(MessageReader(calling(bridges[1]), stream),))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        case = f"round {number}: {size} bytes, {victim} cut at {cut_at}, made by {side}: {writer.end}, {reader.end}"
        self.assertEqual(b"".join(reader.data), data[:reader.count], case)
        is_cut = "cut" in (writer.end, reader.end)
        if is_cut:
            self.assertIn(reader.end if victim == "writer" else writer.end, GONE, case)
        else:
            self.assertEqual((writer.end, reader.end, reader.count), ("complete", "complete", size), case)
        for bridge in bridges:
            bridge.__exit__()
        return "cut" if is_cut else "complete"


class Kills(StreamTest):
    def test_kills(self) -> None:
        """A stream of which one process is killed at any byte is not reported as complete, and leaves nothing"""
        seen: Counter[str] = Counter()
        for number in range(CUTS):
            seen[self.play(number)] += 1
        self.row("the process of one end of a stream is killed (SIGKILL) at a random byte, by itself or by the other",
                 f"{CUTS} times: either end, made by either; by messages, by one descriptor and by both",
                 "the bytes read are a prefix of those written, and the other end gets an error; complete "
                 "only where every byte had been delivered before; nothing is left in the daemon",
                 f"{seen['error']} errors, {seen['complete']} complete, each as promised; no stream, session, byte or "
                 "descriptor left after any of them")

    def play(self, number: int) -> str:
        """Plays one stream. Returns the result of the surviving side."""
        size = 1 + self.size()
        data = self.bytes[:size]
        side, other = self.random.sample(["write", "read"], 2)
        by_itself = self.random.random() < 0.5
        cut_at = self.random.randint(1, size)
        maker = self.random.choice([side, other])
        names, taken = os.pipe(), os.pipe()

        def start(which: str, **more: Any) -> EndProcess:
            by = self.random.choice(["messages", "descriptor"])
            return EndProcess(Plan(self.home.socket, which, by, data, makes=maker == which, **more), names, taken)

        victim = start(side, cut_at=cut_at) if by_itself else start(side)
        survivor = start(other) if by_itself else start(other, cut_at=cut_at, victim=victim.pid)
        report, last = survivor.report(), victim.report()
        for descriptor in (*names, *taken):
            os.close(descriptor)
        case = (f"round {number}: {size} bytes; the {side}r, by {victim.plan.by}, killed by "
                f"{'itself' if by_itself else 'the other'}, by {survivor.plan.by}, at {cut_at}, made by the {maker}r: "
                f"{report}, {last}")
        self.assertIsNone(last if by_itself or last is None or last["end"] != "complete" else None, case)
        assert report is not None, case
        self.assertTrue(report.get("isBeginning"), case)
        self.check_nothing_left()
        if report["end"] == "complete":
            # Killed too late to cut: a writer that had closed the stream, or a reader whose last read the daemon
            # answered before its connection ended. A reader with a descriptor confirms every byte.
            self.assertEqual((by_itself, report["count"]), (False, size), case)
            self.assertTrue(other == "read" or victim.plan.by == "messages", case)
            return "complete"
        self.assertIn(report["end"], GONE, case)
        return "error"


class Many(StreamTest):
    # The limit for memory that the C library's heaps may keep from other moments.
    MAX_GROWTH_BYTES = 4 << 20

    def test_many(self) -> None:
        """A million streams one after the other use no more memory than a hundred thousand"""
        start = time.monotonic()
        early = 0
        with self.daemon.connect() as bridge:
            for number in range(1, STREAMS + 1):
                self.use_one(bridge)
                if number == STREAMS // 10:
                    early = self.memory_bytes()
        seconds = time.monotonic() - start
        late = self.memory_bytes()
        self.assertLess(late - early, self.MAX_GROWTH_BYTES)
        self.check_nothing_left()
        self.row("many streams, one after the other: made, a byte written, read to the end, closed",
                 f"{STREAMS:,} streams", "the daemon's memory does not grow; nothing is left",
                 f"{early / (1 << 20):.1f} MiB after {STREAMS // 10:,}, {late / (1 << 20):.1f} MiB at the end; "
                 f"{seconds:.0f} s, {seconds / STREAMS * 1e6:.0f} µs each")

    def use_one(self, bridge: Bridge) -> None:
        stream = bridge.call("bridge.stream.new")["result"]["stream"]
        bridge.send("bridge.stream.write", {"stream": stream, "base64": "YQ=="})
        bridge.send("bridge.stream.read", {"stream": stream})
        bridge.send("bridge.stream.close", {"stream": stream, "side": "write", "bytes": 1})
        end = bridge.send("bridge.stream.read", {"stream": stream})
        answers = [bridge.receive() for _ in range(4)]
        ended = next(answer["result"] for answer in answers if answer["callbackId"] == end)
        self.assertEqual(ended, {"end": True, "bytes": 1})

    def memory_bytes(self) -> int:
        status = Path(f"/proc/{self.daemon.pid}/status").read_text()
        return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS"))
