"""Streams of the synchronous face whose ends are pipes, with a real daemon."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any

from trestle_bridge import BridgeError, ByteWriter, TaskDescription

from .support import PACKAGE_FOLDER, TEST_TIMEOUT, daemon_folder
from .sync_support import SyncTestCase

BIG = 32 << 20

FILE = {"type": "object", "properties": {"file": {"type": "string", "format": "trestle-stream"}}}

READER = """
import hashlib, sys, trestle_bridge
with trestle_bridge.connect(sys.argv[1]) as bridge, bridge.read_stream(sys.argv[2]) as reader:
    digest = hashlib.sha256()
    for chunk in reader:
        digest.update(chunk)
print(digest.hexdigest())
"""


def open_files(kind: str = "") -> dict[int, str]:
    """This process's descriptors, by what they are."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the folder itself
        if target.startswith(kind):
            found[int(name)] = target
    return found


class PipeTestCase(SyncTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = self.connect()
        self.pipes_before = open_files("pipe:")

    def pipes(self) -> list[int]:
        """The ends of pipes that streams hold."""
        return [number for number in open_files("pipe:") if number not in self.pipes_before]

    def start(self, work: Any) -> threading.Thread:
        """Does work on a thread, which must have ended when the test has."""
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(self.joined, thread)
        return thread

    def joined(self, thread: threading.Thread) -> None:
        thread.join(TEST_TIMEOUT)
        self.assertFalse(thread.is_alive())

    def assert_closed(self, error: BridgeError, by: str) -> None:
        self.assertEqual((error.code, error.data["by"]), ("stream.closed", by))


class AttachedTests(PipeTestCase):
    def test_both_ends_are_one_pipe_and_no_descriptor_is_left_open(self) -> None:
        before = open_files()
        data = os.urandom(200_000)
        writer = self.bridge.make_stream()
        reader = self.other.read_stream(writer.name)

        def write() -> None:
            with writer:
                writer.write(data)

        thread = self.start(write)
        received = reader.read(1)
        self.assertEqual(len({open_files()[number] for number in self.pipes()}), 1)
        self.assertEqual(received + reader.readall(), data)
        self.joined(thread)
        self.assertEqual(open_files(), before)

    def test_32_mib_arrive_whole_in_another_process(self) -> None:
        data = os.urandom(BIG)
        writer = self.bridge.make_stream()
        command = [sys.executable, "-c", READER, self.daemon.path, writer.name]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            with writer:
                writer.write(data)
            output, _ = process.communicate(timeout=TEST_TIMEOUT)
        self.assertEqual(output.strip(), hashlib.sha256(data).hexdigest())

    def test_a_short_stream_whose_length_is_known_goes_in_messages(self) -> None:
        short, long = self.bridge.make_stream(total_bytes=65_535), self.bridge.make_stream(total_bytes=65_536)
        short.write(b"a")
        self.assertEqual(self.pipes(), [])
        long.write(b"a")
        self.assertEqual(len(self.pipes()), 1)
        short.abort()
        long.abort()
        self.assertEqual(self.pipes(), [])

    def test_descriptors_are_closed_in_programs_that_this_one_starts(self) -> None:
        writer = self.bridge.make_stream()
        writer.write(b"a")
        [number] = self.pipes()
        self.assertTrue(fcntl.fcntl(number, fcntl.F_GETFD) & fcntl.FD_CLOEXEC)
        writer.abort()

    def test_an_empty_stream_ends(self) -> None:
        writer = self.bridge.make_stream()
        writer.write(b"")
        reader = self.other.read_stream(writer.name)
        self.start(writer.close)
        self.assertEqual(reader.readall(), b"")
        self.assertEqual(self.pipes(), [])

    def test_the_end_of_a_stream_comes_though_another_process_keeps_the_pipe_open(self) -> None:
        writer = self.bridge.make_stream()
        writer.write(b"all")
        [number] = self.pipes()
        kept = os.dup(number)
        self.addCleanup(os.close, kept)
        reader = self.other.read_stream(writer.name)
        self.start(writer.close)
        self.assertEqual(reader.readall(), b"all")

    def test_a_task_that_is_called_with_attach_in_its_own_right_does_not_mix_up_the_pipes(self) -> None:
        first, second = self.bridge.make_stream(), self.bridge.make_stream()
        options = {"stream": first.name, "side": "write"}
        self.assertEqual(self.bridge.call("bridge.stream.attach", options), {})
        self.assertEqual(self.pipes(), [])
        second.write(b"second")
        reader = self.other.read_stream(second.name)
        self.start(second.close)
        self.assertEqual(reader.readall(), b"second")


class OneSideTests(PipeTestCase):
    def test_a_pipe_is_written_and_messages_are_read(self) -> None:
        data = os.urandom(300_000)
        writer = self.bridge.make_stream()

        def write() -> None:
            with writer:
                writer.write(data)

        self.start(write)
        received = b""
        while True:
            answer = self.other.call("bridge.stream.read", {"stream": writer.name})
            if answer.get("end"):
                break
            received += base64.b64decode(answer["base64"])
        self.assertEqual((received, answer["bytes"]), (data, len(data)))

    def test_messages_are_written_and_a_pipe_is_read(self) -> None:
        reader = self.other.make_stream_to_read()
        message = base64.b64encode(b"a" * 40_000).decode()
        options = {"stream": reader.name, "base64": message}
        self.bridge.call("bridge.stream.write", options)
        self.assertEqual(reader.read(1), b"a")
        self.assertEqual(len(self.pipes()), 1)
        pending = self.bridge.submit("bridge.stream.write", {**options, "end": True})
        self.assertEqual(len(reader.readall()), 79_999)
        self.assertTrue(pending.result()["complete"])

    def test_the_command_line_writes_and_reads(self) -> None:
        def turn(options: Any, call: Any) -> Any:
            data = options["file"].readall()
            return {"file": self.other.send_stream(iter([data[::-1]]), call=call)}

        self.other.register("file.turn", turn, description=TaskDescription(options=FILE, result=FILE))
        binaries = daemon_folder()
        assert binaries is not None
        data = os.urandom(3 << 20)
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            trestle = [str(binaries / "trestle"), "--socket", self.daemon.path]
            command = [*trestle, "call", "file.turn", f"file=@{file.name}"]
            process = subprocess.run(command, capture_output=True, timeout=TEST_TIMEOUT)
        self.assertEqual((process.returncode, process.stderr), (0, b""))
        self.assertEqual(process.stdout, data[::-1])


class EndTests(PipeTestCase):
    def pair(self) -> tuple[ByteWriter, Any]:
        """Both ends as pipes, after four bytes."""
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

    def test_a_writer_that_waits_for_room_learns_that_the_reader_has_closed(self) -> None:
        writer, reader = self.pair()
        raised = []

        def write() -> None:
            try:
                writer.write(bytes(1_000_000))
            except BridgeError as error:
                raised.append(error)

        thread = self.start(write)
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
        raised = []

        def write() -> None:
            try:
                writer.write(bytes(1_000_000))
            except BridgeError as error:
                raised.append(error.code)

        thread = self.start(write)
        self.assertTrue(reader.read(100_000))
        writer.abort(BridgeError("disk.full", "the disk is full"))
        self.joined(thread)
        self.assertEqual(raised, ["stream.closed"])
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
                self.start(writer.close)
                self.assertEqual(reader.readall(), b"lf")
            else:
                writer.abort()
                with self.assertRaises(BridgeError):
                    reader.readall()
        self.assertEqual(self.bridge.call("bridge.status")["streams"], 0)
