"""Streams in options and results, with the synchronous interface and a real daemon."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from typing import Any, Callable, Iterator

from trestle_bridge import BridgeError, ByteReader, IncomingCall, Stream, TaskDescription

from .support import TEST_TIMEOUT
from .sync_support import SyncTestCase

PHOTO = TaskDescription(options={
    "type": "object", "properties": {
        "photo": {"type": "string", "format": "trestle-stream"},
        "more": {"type": "object", "properties": {"raw": {"type": "string", "format": "trestle-stream"}}},
        "name": {"type": "string"},
    },
})


class Endless:
    """An endless source that records when it is closed."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return b"more" * 10_000

    def close(self) -> None:
        """Closes the source, like the `close` of a generator."""
        self.closed.set()


class StreamValueTests(SyncTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = self.connect()

    def fails(self, work: Callable[[], Any]) -> BridgeError:
        with self.assertRaises(BridgeError) as raised:
            work()
        return raised.exception

    def provide_size(self) -> None:
        def size(options: Any, call: IncomingCall) -> Any:
            return [len(options["photo"].readall()), len(options["more"]["raw"].readall()), options["name"]]

        self.other.register("photo.size", size, description=PHOTO)

    def test_streams_stand_anywhere_in_options_and_the_task_gets_readers(self) -> None:
        self.provide_size()
        with tempfile.TemporaryFile() as file:
            file.write(bytes(1_000_000))
            file.seek(0)
            options = {"photo": Stream(file, "image/png", 1_000_000), "more": {"raw": Stream(b"raw")}, "name": "a"}
            self.assertEqual(self.bridge.call("photo.size", options, timeout=TEST_TIMEOUT), [1_000_000, 3, "a"])

    def test_without_a_schema_the_task_gets_the_name(self) -> None:
        def size(options: Any, call: IncomingCall) -> Any:
            with self.other.read_stream(options[0], call=call) as reader:
                return len(reader.readall())

        self.other.register("size", size)
        self.assertEqual(self.bridge.call("size", [Stream([b"one", b"two"])]), 6)

    def test_a_result_has_streams_that_the_caller_reads(self) -> None:
        data = os.urandom(1_000_001)

        def parts() -> Iterator[bytes]:
            for start in range(0, len(data), 100_000):
                yield data[start:start + 100_000]

        def get(options: Any, call: IncomingCall) -> Any:
            return {"photo": Stream(parts(), "image/png"), "thumb": Stream(b"t")}

        self.other.register("photo.get", get)
        result = self.bridge.call("photo.get")
        self.assertEqual(self.bridge.read_stream(result["thumb"]).readall(), b"t")
        received = self.bridge.read_stream(result["photo"]).readall()
        self.assertEqual(hashlib.sha256(received).digest(), hashlib.sha256(data).digest())

    def test_a_reader_is_the_source_of_a_result(self) -> None:
        self.other.register("photo.copy", lambda options, call: Stream(options["photo"]), description=PHOTO)
        data = os.urandom(500_000)
        name = self.bridge.call("photo.copy", {"photo": Stream(data)})
        self.assertEqual(self.bridge.read_stream(name).readall(), data)

    def test_a_call_that_is_refused_ends_its_streams_and_closes_the_generator(self) -> None:
        source = Endless()
        error = self.fails(lambda: self.bridge.call("no.such.task", {"photo": Stream(source)}))
        self.assertEqual(error.code, "task.not_found")
        self.assertTrue(source.closed.wait(TEST_TIMEOUT))

    def test_a_call_that_fails_ends_its_streams_and_closes_the_generator(self) -> None:
        readers: list[ByteReader] = []

        def fail(options: Any, call: IncomingCall) -> None:
            readers.append(self.other.read_stream(options["photo"], call=call))
            next(readers[0])
            raise BridgeError("photo.dull", "the photo is dull")

        self.other.register("photo.fail", fail)
        source = Endless()
        error = self.fails(lambda: self.bridge.call("photo.fail", {"photo": Stream(source)}))
        self.assertEqual(error.code, "photo.dull")
        self.assertTrue(source.closed.wait(TEST_TIMEOUT))
        self.assertEqual(self.fails(readers[0].readall).data["error"]["code"], "photo.dull")

    def test_a_call_that_cannot_be_sent_closes_its_sources(self) -> None:
        with tempfile.TemporaryFile() as file:
            self.bridge.close()
            self.assertEqual(self.fails(lambda: self.bridge.call("photo.size", Stream(file))).code, "session.closed")
            self.assertTrue(file.closed)

    def test_a_reader_that_leaves_early_closes_the_generator_and_the_call_succeeds(self) -> None:
        def peek(options: Any, call: IncomingCall) -> int:
            with options["photo"] as photo:
                return len(next(photo)) and 1

        self.other.register("photo.peek", peek, description=PHOTO)
        source = Endless()
        self.assertEqual(self.bridge.call("photo.peek", {"photo": Stream(source)}), 1)
        self.assertTrue(source.closed.wait(TEST_TIMEOUT))

    def test_a_task_that_fails_closes_its_reader(self) -> None:
        readers: list[ByteReader] = []

        def fail(options: Any, call: IncomingCall) -> None:
            readers.append(options["photo"])
            raise KeyError("paper")

        self.other.register("photo.fail", fail, description=PHOTO)
        self.fails(lambda: self.bridge.call("photo.fail", {"photo": Stream(b"abc")}))
        self.assertTrue(readers[0].closed)

    def test_a_task_that_drops_its_reader_ends_the_stream(self) -> None:
        self.other.register("photo.ignore", lambda options, call: None, description=PHOTO)
        source = Endless()
        self.bridge.call("photo.ignore", {"photo": Stream(source)})
        self.assertTrue(source.closed.wait(TEST_TIMEOUT))

    def test_a_caller_that_leaves_early_closes_the_generator_of_a_result(self) -> None:
        source = Endless()
        self.other.register("photo.get", lambda options, call: Stream(source))
        with self.bridge.read_stream(self.bridge.call("photo.get")) as reader:
            next(reader)
        self.assertTrue(source.closed.wait(TEST_TIMEOUT))

    def test_what_a_generator_raises_reaches_the_reader_and_is_the_cause_of_the_callers_error(self) -> None:
        def parts() -> Iterator[bytes]:
            yield b"half"
            raise KeyError("paper")

        self.provide_size()
        options = {"photo": Stream(parts()), "more": {"raw": Stream(b"")}, "name": "a"}
        error = self.fails(lambda: self.bridge.call("photo.size", options))
        self.assertEqual((error.code, repr(error.__cause__)), ("stream.closed", "KeyError('paper')"))
        self.assertIn("paper", error.message)
        self.other.register("photo.get", lambda options, call: Stream(parts()))
        reader = self.bridge.read_stream(self.bridge.call("photo.get"))
        for _ in range(2):
            # A repeated read must not return the end of the stream.
            error = self.fails(reader.readall)
            self.assertEqual((error.code, error.data["by"]), ("stream.closed", "writer"))

    def test_a_stream_that_is_read_once_is_sent_once(self) -> None:
        self.provide_size()
        once = Stream(iter([b"one"]))
        for options in ([once, once], [once]):
            error = self.fails(lambda: self.bridge.call("Echo", options))
            self.assertEqual((error.code, error.started), ("options.invalid", False))
            self.assertIn("this Stream was sent before, and its source (list_iterator) can be read once", error.message)
        again = Stream([b"one", b"two"])
        twice = {"photo": again, "more": {"raw": again}, "name": "a"}
        for _ in range(2):
            self.assertEqual(self.bridge.call("photo.size", twice), [6, 6, "a"])
        self.other.register("photo.get", lambda options, call: once)
        self.assertIn("was sent before", self.fails(lambda: self.bridge.call("photo.get")).message)

    def test_bytes_are_sent_again_where_the_call_is(self) -> None:
        sizes: list[int] = []

        def size(options: Any, call: IncomingCall) -> int:
            sizes.append(len(options["photo"].readall()))
            if len(sizes) < 3:
                raise BridgeError("photo.busy", "later", transient=True, retry_after=0.0)
            return len(sizes)

        self.other.register("photo.size", size, description=PHOTO)
        self.assertEqual(self.bridge.call("photo.size", {"photo": Stream(b"abc")}, retry="transient"), 3)
        self.assertEqual(sizes, [3, 3, 3])
        sizes.clear()
        once = {"photo": Stream(iter([b"abc"]))}
        self.assertEqual(self.fails(lambda: self.bridge.call("photo.size", once, retry="transient")).code, "photo.busy")

    def test_what_is_wrong_with_the_rest_of_the_options_uses_no_stream_up(self) -> None:
        self.provide_size()
        once = Stream(iter([b"one"]))
        options: Any = {"photo": once, "more": {"raw": Stream(b"")}, "name": object()}
        self.assertEqual(self.fails(lambda: self.bridge.call("photo.size", options)).data["path"], "$.name")
        options["name"] = "a"
        self.assertEqual(self.bridge.call("photo.size", options), [3, 0, "a"])
        options["more"] = options
        self.assertEqual(self.fails(lambda: self.bridge.call("photo.size", options)).code, "options.invalid")

    def test_a_source_of_asyncio_and_a_stream_that_no_call_sends_are_refused_in_words(self) -> None:
        async def parts() -> Any:
            yield b"one"

        error = self.fails(lambda: self.bridge.call("Echo", Stream(parts())))
        self.assertIn("(async_generator) is asynchronous: only trestle_bridge.aio", error.message)
        for begin in (self.bridge.submit, self.bridge.notify):
            self.assertIn("the class Stream", self.fails(lambda: begin("Echo", [Stream(b"")])).message)

    def test_a_one_way_call_closes_the_sources_of_its_result(self) -> None:
        source = Endless()
        self.other.register("photo.get", lambda options, call: Stream(source))
        self.bridge.notify("photo.get")
        self.assertTrue(source.closed.wait(TEST_TIMEOUT))
