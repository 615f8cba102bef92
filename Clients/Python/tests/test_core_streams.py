"""The writer's end of a stream, without a daemon."""

from __future__ import annotations

import base64
import unittest
from typing import Any, Callable, Optional

from trestle_bridge import BridgeError
from trestle_bridge._core.errors import BUSY, STREAM_CLOSED, started_data
from trestle_bridge._core.incoming import ProvidedCall
from trestle_bridge._core.stream_writing import PIECE_BYTES, Writing, piece_bytes
from trestle_bridge._core.streaming import Steps


class Answer:
    """A call that is answered by the test."""

    done = False

    def when_done(self, then: Callable[[], None]) -> None:
        """Nobody waits elsewhere."""


class WritingTests(unittest.TestCase):
    def setUp(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def begin(self, task: str, options: dict[str, Any], call: Optional[ProvidedCall]) -> Answer:
        self.calls.append((task, options))
        return Answer()

    def write(self, data: bytes, message_bytes: int = 1 << 20) -> Steps[Answer, int]:
        """Steps of a write in messages, the first answer of which is to come."""
        writing = Writing(self.begin, "stream:1", 1 << 20, None, len(data), lambda: message_bytes)
        return writing.write(data)

    def test_a_piece_fits_into_a_message_with_all_that_stands_around_it(self) -> None:
        for message_bytes in (1 << 10, 2_000, 16 << 10, 1 << 20):
            with self.subTest(message_bytes):
                size = piece_bytes(message_bytes)
                text = base64.b64encode(bytes(size))
                self.assertTrue(len(text) + 200 <= message_bytes and 0 < size <= PIECE_BYTES)
                with self.assertRaises(StopIteration):
                    next(self.write(bytes(2 * size), message_bytes))
                lengths = [len(options["base64"]) for _, options in self.calls]
                self.assertEqual(lengths, [len(text)] * 2)
                self.calls.clear()

    def test_a_write_that_was_not_sent_ends_the_stream(self) -> None:
        steps = self.write(bytes(64_000), 2_000)
        next(steps)
        with self.assertRaises(BridgeError):
            steps.throw(BridgeError(BUSY, "too much waits", started_data(False)))
        task, options = self.calls[-1]
        self.assertEqual((task, options["error"]["code"]), ("bridge.stream.close", BUSY))

    def test_a_write_that_the_daemon_refused_has_ended_it(self) -> None:
        steps = self.write(bytes(64_000), 2_000)
        next(steps)
        with self.assertRaises(BridgeError):
            steps.throw(BridgeError(STREAM_CLOSED, "the reader is gone"))
        self.assertEqual({task for task, _ in self.calls}, {"bridge.stream.write"})
