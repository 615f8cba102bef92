"""Streams of the synchronous interface with a real daemon."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import threading
from typing import Any

from trestle_bridge import BridgeError, ByteReader, IncomingCall

from .support import TEST_TIMEOUT
from .sync_support import SyncTestCase


def run(work: Any) -> threading.Thread:
    """Runs work on a separate thread."""
    thread = threading.Thread(target=work)
    thread.start()
    return thread


class StreamTests(SyncTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = self.connect()

    def joined(self, thread: threading.Thread) -> None:
        thread.join(TEST_TIMEOUT)
        self.assertFalse(thread.is_alive())

    def test_megabytes_go_whole_and_reader_and_writer_are_files(self) -> None:
        data = os.urandom(3_000_001)
        writer = self.bridge.make_stream(type="image/png", total_bytes=len(data))

        def write() -> None:
            with writer:
                shutil.copyfileobj(io.BytesIO(data), writer, 100_000)

        thread = run(write)
        with self.other.read_stream(writer.name) as reader, tempfile.TemporaryFile() as file:
            shutil.copyfileobj(reader, file)
            file.seek(0)
            self.assertEqual(hashlib.sha256(file.read()).digest(), hashlib.sha256(data).digest())
        self.joined(thread)

    def test_a_handler_reads_its_callers_stream_and_answers_with_one(self) -> None:
        threads = []

        def turn(options: Any, call: IncomingCall) -> Any:
            data = self.other.read_stream(options["photo"], call=call).readall()
            writer = self.other.make_stream(call=call)

            def write() -> None:
                with writer:
                    writer.write(data[::-1])

            threads.append(run(write))
            return {"photo": writer.name}

        self.other.register("photo.turn", turn)
        with self.bridge.make_stream() as writer:
            pending = self.bridge.submit("photo.turn", {"photo": writer.name})
            writer.write(b"abc")
        with self.bridge.read_stream(pending.result()["photo"]) as reader:
            self.assertEqual(b"".join(reader), b"cba")
        self.joined(threads[0])

    def test_chunks_lines_and_parts_of_a_reader(self) -> None:
        with self.bridge.make_stream() as writer:
            reader = self.other.read_stream(writer.name)
            writer.write(b"one\ntwo")
            self.assertEqual(reader.read(3), b"one")
            self.assertEqual(next(reader), b"\ntwo")
            writer.write(memoryview(b"three\nfour\n"))
            with io.TextIOWrapper(io.BufferedReader(reader)) as text:
                thread = run(writer.close)
                self.assertEqual(text.readlines(), ["three\n", "four\n"])
        self.joined(thread)

    def test_a_stream_that_its_reader_made_is_written_to(self) -> None:
        reader = self.bridge.make_stream_to_read()

        def write() -> None:
            with self.other.write_stream(reader.name) as writer:
                writer.write(b"hello")

        thread = run(write)
        self.assertEqual(reader.readall(), b"hello")
        self.joined(thread)

    def test_no_bytes_are_a_stream_too(self) -> None:
        writer = self.bridge.make_stream()
        thread = run(writer.close)
        self.assertEqual(self.other.read_stream(writer.name).readall(), b"")
        self.joined(thread)

    def test_an_exception_in_a_writer_reaches_the_reader(self) -> None:
        with self.assertRaises(KeyError), self.bridge.make_stream() as writer:
            reader = self.other.read_stream(writer.name)
            writer.write(b"half")
            raise KeyError("paper")
        with self.assertRaises(BridgeError) as raised:
            reader.readall()
        self.assertEqual((raised.exception.code, raised.exception.data["by"]), ("stream.closed", "writer"))
        self.assertIn("KeyError", raised.exception.message)

    def test_a_reader_that_closes_stops_its_writer(self) -> None:
        writer = self.bridge.make_stream()
        self.other.read_stream(writer.name).close()
        with self.assertRaises(BridgeError) as raised:
            while True:
                writer.write(b"more" * 10_000)
        self.assertEqual((raised.exception.code, raised.exception.data["by"]), ("stream.closed", "reader"))
        with self.assertRaises(ValueError):
            writer.write(b"more")

    def test_a_writer_that_ends_leaves_no_stream_that_looks_complete(self) -> None:
        lost = self.connect()
        writer = lost.make_stream()
        writer.write(b"half")
        reader = self.other.read_stream(writer.name)
        self.assertEqual(reader.read(4), b"half")
        lost.close()
        with self.assertRaises(BridgeError) as raised:
            reader.readall()
        self.assertEqual(raised.exception.code, "stream.closed")

    def test_a_reader_that_is_dropped_ends_the_stream(self) -> None:
        writer = self.bridge.make_stream()
        reader = self.other.read_stream(writer.name)
        del reader
        with self.assertRaises(BridgeError):
            while True:
                writer.write(b"more" * 10_000)

    def test_a_name_that_is_none_is_not_found(self) -> None:
        for reader in (self.bridge.read_stream("stream:x"), self.bridge.read_stream("")):
            self.assertIsInstance(reader, ByteReader)
            with self.assertRaises(BridgeError) as raised:
                reader.readall()
            self.assertEqual(raised.exception.code, "stream.not_found")
