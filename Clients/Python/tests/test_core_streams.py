"""The ends of streams, without a daemon."""

from __future__ import annotations

import base64
import os
import unittest
from typing import Any, Callable, Optional

from trestle_bridge import BridgeError
from trestle_bridge._core.errors import BUSY, STREAM_CLOSED, started_data
from trestle_bridge._core.incoming import ProvidedCall
from trestle_bridge._core.pipes import Passed, Pipe
from trestle_bridge._core.stream_reading import Reading
from trestle_bridge._core.stream_writing import PIECE_BYTES, Writing, piece_bytes
from trestle_bridge._core.streaming import MadeStream, Steps, made_stream


class Answer:
    """A call that the test answers."""

    done = False

    def when_done(self, then: Callable[[], None]) -> None:
        """Does nothing: no other thread waits."""


class WithPipeTests(unittest.TestCase):
    """Streams that are made with a pipe."""

    def setUp(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.refused: Optional[str] = None
        reader, writer = os.pipe()
        os.close(reader)
        self.pipe = Pipe(writer)

    def begin(self, task: str, options: dict[str, Any], call: Optional[ProvidedCall]) -> Answer:
        if task == self.refused:
            raise BridgeError(BUSY, "too much waits", started_data(False))
        self.calls.append((task, options))
        return Answer()

    def ends(self, pipe: Optional[Pipe]) -> list[Callable[[], object]]:
        made = MadeStream("stream:1", 1 << 20, True, pipe)
        return [
            lambda: Writing(self.begin, made.name, None, None, lambda: 1 << 20, made),
            lambda: Reading(self.begin, made.name, None, made),
        ]

    def test_a_pipe_that_the_system_could_not_pass_ends_the_stream(self) -> None:
        for end in self.ends(None):
            with self.assertRaises(BridgeError) as raised:
                end()
            self.assertEqual(raised.exception.code, STREAM_CLOSED)
            task, options = self.calls.pop()
            self.assertEqual((task, options["error"]["code"]), ("bridge.stream.close", STREAM_CLOSED))

    def test_where_the_call_that_ends_with_the_stream_cannot_be_sent_the_pipe_is_closed_and_the_stream_ended(
        self,
    ) -> None:
        for end, task in zip(self.ends(self.pipe), ("bridge.stream.write", "bridge.stream.read")):
            self.refused = task
            with self.assertRaises(BridgeError) as raised:
                end()
            self.assertEqual((raised.exception.code, self.pipe.is_closed), (BUSY, True))
            self.assertEqual(self.calls.pop()[0], "bridge.stream.close")

    def test_an_answer_without_the_word_is_a_stream_in_messages(self) -> None:
        for answer in ({"stream": "stream:1", "room": 9}, Passed({"stream": "stream:1", "room": 9}, None)):
            self.assertEqual(made_stream(answer), MadeStream("stream:1", 9, False, None))
        result = {"stream": "stream:1", "room": 9, "attached": True}
        self.assertEqual(made_stream(Passed(result, self.pipe)), MadeStream("stream:1", 9, True, self.pipe))


class WritingTests(unittest.TestCase):
    def setUp(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def begin(self, task: str, options: dict[str, Any], call: Optional[ProvidedCall]) -> Answer:
        self.calls.append((task, options))
        return Answer()

    def write(self, data: bytes, message_bytes: int = 1 << 20) -> Steps[Answer, int]:
        """Returns the steps of a write in messages, before the first answer."""
        made = MadeStream("stream:1", 1 << 20, False, None)
        writing = Writing(self.begin, made.name, None, len(data), lambda: message_bytes, made)
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
