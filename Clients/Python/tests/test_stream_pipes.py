"""Streams of the synchronous interface over pipes, with a real daemon."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from typing import Any

from trestle_bridge import BridgeError, TaskDescription

from .pipe_support import PipeTestCase, open_files
from .support import PACKAGE_FOLDER, TEST_TIMEOUT, daemon_folder

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


class AttachedTests(PipeTestCase):
    def forget(self, name: str) -> None:
        """Takes the reader's end of a stream and closes it, so that the daemon removes the stream."""
        self.other.call("bridge.stream.close", {"stream": name, "side": "read"})

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
        short = self.bridge.make_stream(total_bytes=65_535)
        short.write(b"a")
        self.assertEqual(self.pipes(), [])
        long = self.bridge.make_stream(total_bytes=65_536)
        self.assertEqual(len(self.pipes()), 1)
        short.abort()
        long.abort()
        self.assertEqual(self.pipes(), [])

    def test_who_makes_a_stream_gets_its_pipe_with_it(self) -> None:
        writer, reader = self.bridge.make_stream(), self.bridge.make_stream_to_read()
        self.assertEqual(len(self.pipes()), 2)
        for name, side in ((writer.name, "write"), (reader.name, "read")):
            with self.assertRaises(BridgeError) as raised:
                self.bridge.call("bridge.stream.attach", {"stream": name, "side": side})
            self.assertEqual(raised.exception.code, "stream.invalid")
        self.start(writer.close)
        self.assertEqual(self.other.read_stream(writer.name).readall(), b"")
        other = self.other.write_stream(reader.name)
        other.write(b"abc")
        self.start(other.close)
        self.assertEqual(reader.readall(), b"abc")
        self.assertEqual(self.pipes(), [])

    def test_streams_that_are_made_and_dropped_leave_no_descriptor(self) -> None:
        before = open_files()
        for _ in range(100):
            writer, reader = self.bridge.make_stream(), self.bridge.make_stream_to_read()
            writer.abort()
            reader.close()
            self.forget(writer.name)
        self.assertEqual(open_files(), before)

    def test_beyond_the_quota_of_pipes_bytes_go_in_messages(self) -> None:
        made = [self.other.make_stream() for _ in range(64)]
        writer = self.bridge.make_stream()
        count = len(self.pipes())
        self.assertLessEqual(count, 64)
        writer.write(b"abc")
        self.start(writer.close)
        self.assertEqual(self.bridge.read_stream(writer.name).readall(), b"abc")
        self.assertEqual(len(self.pipes()), count)
        for other in made:
            other.abort()
            self.forget(other.name)
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
        first, second = self.bridge.make_stream(total_bytes=1), self.bridge.call("bridge.stream.new")
        second = self.bridge.write_stream(second["stream"])
        options = {"stream": first.name, "side": "write"}
        self.assertEqual(self.bridge.call("bridge.stream.attach", options), {})
        self.assertEqual(self.pipes(), [])
        own = self.bridge.call("bridge.stream.new", {"attach": True})
        self.assertTrue(own["attached"])
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
