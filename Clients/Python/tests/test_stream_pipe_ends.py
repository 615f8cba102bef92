"""The ends of streams of the synchronous interface over pipes, with a real daemon."""

from __future__ import annotations

import signal
import threading
from typing import Any

from trestle_bridge import BridgeError, ByteWriter

from .pipe_support import PipeTestCase


class EndTests(PipeTestCase):
    def pair(self) -> tuple[ByteWriter, Any]:
        """Returns both ends as pipes, after four bytes were transferred."""
        writer = self.bridge.make_stream()
        reader = self.other.read_stream(writer.name)
        writer.write(b"half")
        self.assertEqual(reader.read(2), b"ha")
        self.assertEqual(len(self.pipes()), 2)
        return writer, reader

    def test_on_an_error_the_reader_gets_what_is_in_the_pipe_and_then_the_error(self) -> None:
        writer, reader = self.pair()
        writer.write(b" of it")
        writer.abort(BridgeError("disk.full", "the disk is full"))
        received = b""
        with self.assertRaises(BridgeError) as raised:
            for chunk in reader:
                received += chunk
        self.assertEqual(received, b"lf of it")
        self.assert_closed(raised.exception, "writer")
        self.assertEqual(raised.exception.data["error"]["code"], "disk.full")
        self.assertEqual(self.pipes(), [])
        with self.assertRaises(BridgeError):
            reader.readall()

    def test_a_writer_whose_connection_ends_leaves_no_stream_that_looks_complete(self) -> None:
        lost = self.connect()
        writer = lost.make_stream()
        writer.write(b"half")
        reader = self.other.read_stream(writer.name)
        self.assertEqual(reader.read(4), b"half")
        lost.close()
        del writer
        with self.assertRaises(BridgeError) as raised:
            reader.readall()
        self.assert_closed(raised.exception, "writer")

    def test_a_count_that_differs_is_an_error_for_both_sides(self) -> None:
        writer = self.bridge.make_stream()
        reader = self.other.read_stream(writer.name)
        writer.write(b"half")
        self.assertEqual(reader.read(4), b"half")
        pending = self.bridge.submit("bridge.stream.close", {"stream": writer.name, "bytes": 5})
        writer._writing.abort(None)
        with self.assertRaises(BridgeError) as raised:
            reader.readall()
        self.assertEqual(raised.exception.code, "stream.invalid")
        self.assertIn("4 of the 5 bytes", raised.exception.message)
        receipt = pending.result()
        self.assertEqual((receipt["complete"], receipt["by"]), (False, "reader"))
        self.assertEqual(self.pipes(), [])

    def start_long_write(self, writer: ByteWriter) -> tuple[threading.Thread, list[BridgeError]]:
        """Writes more than the capacity of a pipe, on another thread. The list gets the error of the write."""
        raised: list[BridgeError] = []

        def write() -> None:
            try:
                writer.write(bytes(1_000_000))
            except BridgeError as error:
                raised.append(error)

        return self.start(write), raised

    def test_a_writer_that_waits_for_room_learns_that_the_reader_has_closed(self) -> None:
        writer, reader = self.pair()
        thread, raised = self.start_long_write(writer)
        # The pipe is full: the writer waits, or is about to.
        self.assertTrue(reader.read(100_000))
        reader.close()
        self.joined(thread)
        self.assert_closed(raised[0], "reader")
        with self.assertRaises(ValueError):
            writer.write(b"more")
        self.assertEqual(self.pipes(), [])

    def test_a_writers_close_fails_where_the_reader_closes_before_the_last_byte(self) -> None:
        writer, reader = self.pair()
        writer.write(b"more")
        reader.close()
        with self.assertRaises(BridgeError) as raised:
            writer.close()
        self.assert_closed(raised.exception, "reader")

    def test_a_writer_is_aborted_by_another_thread_while_it_waits_for_room(self) -> None:
        writer, reader = self.pair()
        thread, raised = self.start_long_write(writer)
        self.assertTrue(reader.read(100_000))
        writer.abort(BridgeError("disk.full", "the disk is full"))
        self.joined(thread)
        self.assertEqual([error.code for error in raised], ["stream.closed"])
        with self.assertRaises(BridgeError) as read:
            reader.readall()
        self.assertEqual(read.exception.data["error"]["code"], "disk.full")
        self.assertEqual(self.pipes(), [])

    def test_a_reader_is_closed_by_another_thread_while_it_waits_for_bytes(self) -> None:
        writer, reader = self.pair()
        raised = []

        def read() -> None:
            try:
                while True:
                    next(reader)
            except BridgeError as error:
                raised.append(error.code)
            except (StopIteration, ValueError):
                raised.append("over")

        thread = self.start(read)
        reader.close()
        self.joined(thread)
        self.assertEqual(len(raised), 1)
        with self.assertRaises(BridgeError) as written:
            while True:
                writer.write(b"more" * 10_000)
        self.assert_closed(written.exception, "reader")
        self.assertEqual(self.pipes(), [])

    def test_a_signal_interrupts_a_reader_that_waits_and_nothing_is_lost(self) -> None:
        class Interrupted(Exception):
            pass

        def interrupt(number: int, frame: Any) -> None:
            raise Interrupted

        writer, reader = self.pair()
        self.assertEqual(reader.read(2), b"lf")
        former = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, former)
        with self.assertRaises(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            reader.read(1)
        writer.write(b"rest")
        self.start(writer.close)
        self.assertEqual(reader.readall(), b"rest")

    def test_where_a_broken_pipe_would_end_the_process_a_writer_uses_messages(self) -> None:
        former = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGPIPE, former)
        writer = self.bridge.make_stream()
        writer.write(b"a")
        self.assertEqual(self.pipes(), [])
        self.other.read_stream(writer.name).close()
        with self.assertRaises(BridgeError):
            while True:
                writer.write(b"more" * 10_000)

    def test_a_reader_that_closes_unread_is_not_taken_for_one_that_has_every_byte(self) -> None:
        made: list[Any] = []

        def take(options: Any, call: Any) -> None:
            made.append(self.other.read_stream(options, call=call))

        self.other.register("file.take", take)
        writer = self.bridge.make_stream()
        self.bridge.call("file.take", writer.name)
        writer.write(b"unread")
        pending = self.bridge.submit("bridge.stream.close", {"stream": writer.name, "bytes": 6})
        self.bridge.call("bridge.status")
        made[0].close()
        receipt = pending.result()
        self.assertEqual((receipt["complete"], receipt["by"]), (False, "reader"))
        writer.abort()

    def test_the_daemon_forgets_the_streams(self) -> None:
        for end in ("close", "abort"):
            writer, reader = self.pair()
            if end == "close":
                closing = self.start(writer.close)
                self.assertEqual(reader.readall(), b"lf")
                self.joined(closing)
            else:
                writer.abort()
                with self.assertRaises(BridgeError):
                    reader.readall()
        self.assertEqual(self.bridge.call("bridge.status")["streams"], 0)
