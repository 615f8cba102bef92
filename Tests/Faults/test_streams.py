"""Streams of which one end is cut off at any byte."""

from __future__ import annotations

import base64
import os
import random
import threading
from dataclasses import dataclass, field

from daemon import Bridge, Daemon, Home, wait_until
from report import FaultTest
from settings import SEED

ROUNDS = 1_000
MAX_BYTES = 600_000
PIECE_BYTES = 24_000


@dataclass
class Side:
    """One end of a stream, and what came of it."""

    bridge: Bridge
    # After so many bytes its connection is closed without a word; None: never.
    cut_at: int | None
    count: int = 0
    # How it ended: "complete", "cut", or the code of an error.
    end: str = ""
    data: list[bytes] = field(default_factory=list)

    def is_cut(self) -> bool:
        """Closes the connection where that is due."""
        if self.cut_at is None or self.count < self.cut_at:
            return False
        self.bridge.__exit__()
        self.end = "cut"
        return True


def write(side: Side, stream: str, data: bytes) -> None:
    while not side.is_cut():
        piece = data[side.count:side.count + PIECE_BYTES]
        if side.cut_at is not None:
            piece = piece[:max(1, side.cut_at - side.count)]
        if not piece:
            message = side.bridge.call("bridge.stream.close", {"stream": stream, "bytes": side.count})
            complete = message.get("result", {}).get("complete")
            side.end = "complete" if complete else message.get("error", {"code": "incomplete"})["code"]
            return
        text = base64.b64encode(piece).decode()
        message = side.bridge.call("bridge.stream.write", {"stream": stream, "base64": text})
        if "error" in message:
            side.end = message["error"]["code"]
            return
        side.count += len(piece)


def read(side: Side, stream: str) -> None:
    while not side.is_cut():
        options = {"stream": stream}
        if side.cut_at is not None:
            options["bytes"] = max(1, side.cut_at - side.count)
        message = side.bridge.call("bridge.stream.read", options)
        if "error" in message:
            side.end = message["error"]["code"]
            return
        if message["result"].get("end"):
            side.end = "complete" if message["result"]["bytes"] == side.count else "miscounted"
            return
        side.data.append(base64.b64decode(message["result"]["base64"]))
        side.count += len(side.data[-1])


class Cuts(FaultTest):
    def setUp(self) -> None:
        self.home = Home()
        self.addCleanup(self.home.remove)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())
        self.random = random.Random(SEED)
        self.bytes = self.random.randbytes(MAX_BYTES)

    def test_cuts(self) -> None:
        """A stream whose writer or reader is gone at any byte is complete for nobody, and leaves nothing"""
        watcher = self.daemon.connect()
        descriptors = self.descriptors()
        ends = {"complete": 0, "cut": 0}
        for number in range(ROUNDS):
            ends[self.play(number)] += 1
        wait_until("no stream is left", lambda: self.streams(watcher) == (0, 0))
        wait_until("no descriptor is left", lambda: self.descriptors() <= descriptors)
        self.assertGreater(min(ends.values()), 0)
        self.row("one end of a stream is closed at a random byte", f"{ROUNDS} times, either end, made by either",
                 "the other end gets an error behind the bytes that are there; whole and complete only where nothing "
                 "was cut; nothing is left in the daemon",
                 f"{ends['cut']} cut, {ends['complete']} complete, each as promised; "
                 "no stream, byte or descriptor left")

    def streams(self, watcher: Bridge) -> tuple[int, int]:
        status = watcher.call("bridge.status")["result"]
        return status["streams"], status["streamBytes"]

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    def play(self, number: int) -> str:
        """One stream. Whether it was cut."""
        size = self.random.choice([0, 1, self.random.randrange(100), self.random.randrange(MAX_BYTES)])
        victim = self.random.choice(["writer", "reader", "none"])
        # A side that never uses the name makes the other side wait for a minute.
        cut_at = self.random.randint(1, max(1, size))
        data = self.bytes[:size]
        writer = Side(self.daemon.connect(), cut_at if victim == "writer" else None)
        reader = Side(self.daemon.connect(), cut_at if victim == "reader" else None)
        maker, side = self.random.choice([(writer, "write"), (reader, "read")])
        stream = maker.bridge.call("bridge.stream.new", {"side": side})["result"]["stream"]
        threads = [threading.Thread(target=write, args=(writer, stream, data)),
                   threading.Thread(target=read, args=(reader, stream))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        case = f"round {number}: {size} bytes, {victim} cut at {cut_at}, made by {side}: {writer.end}, {reader.end}"
        self.assertEqual(b"".join(reader.data), data[:reader.count], case)
        is_cut = "cut" in (writer.end, reader.end)
        if not is_cut:
            self.assertEqual((writer.end, reader.end, reader.count), ("complete", "complete", size), case)
        elif victim == "writer":
            # Where the reader came later, nobody knows of the stream any more.
            self.assertIn(reader.end, ["stream.closed", "stream.not_found"], case)
        else:
            self.assertIn(writer.end, ["stream.closed", "stream.not_found", "incomplete"], case)
        for end in (writer, reader):
            if end.end != "cut":
                end.bridge.__exit__()
        return "cut" if is_cut else "complete"
