"""The ends of pipes that arrive with results, in a core without a socket."""

from __future__ import annotations

import os
import socket
import unittest
from typing import Any, Optional

from trestle_bridge._core.call import Call
from trestle_bridge._core.jsontext import encode
from trestle_bridge._core.pipes import Passed, Pipe, receive

from .core_support import CoreTestCase, Recorder


class PassedTests(CoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.greet()

    def pipe(self) -> Pipe:
        """Returns one end of a pipe, whose other end is closed."""
        reader, writer = os.pipe()
        os.close(writer)
        return Pipe(reader)

    def attach(self, wants_pipe: bool = True, task: str = "attach") -> tuple[Call, Recorder, int]:
        """Returns a sent call and its id."""
        sink = Recorder()
        call = Call(encode(f"bridge.stream.{task}"), None, sink, wants_pipe=wants_pipe)
        self.core.submit(call)
        [message] = self.written()
        return call, sink, message["callbackId"]

    def answer(self, call_id: int, pipe: Optional[Pipe] = None, **message: Any) -> None:
        pipes = [pipe] if "result" in message else []
        self.core.received(encode({"callbackId": call_id, **message}) + b"\n", pipes)

    def test_ends_belong_to_results_in_their_order(self) -> None:
        pipes = [self.pipe() for _ in range(2)]
        (_, first, first_id), (_, second, second_id) = self.attach(), self.attach()
        lines = b"".join(encode({"callbackId": call_id, "result": {}}) + b"\n" for call_id in (second_id, first_id))
        self.core.received(lines[:5], pipes[:1])
        self.core.received(lines[5:], pipes[1:])
        self.assertEqual((first.result, second.result), (Passed({}, pipes[1]), Passed({}, pipes[0])))

    def test_the_end_of_a_call_that_was_cancelled_goes_to_no_other_one(self) -> None:
        cancelled, _, cancelled_id = self.attach()
        _, sink, call_id = self.attach()
        self.core.calls.abandon(cancelled)
        unwanted, wanted = self.pipe(), self.pipe()
        self.answer(cancelled_id, unwanted, result={})
        self.answer(call_id, wanted, result={})
        self.assertEqual(sink.result, Passed({}, wanted))

    def test_a_call_that_was_taken_back_waits_for_no_end(self) -> None:
        self.core.submit(taken := Call(b'"bridge.stream.attach"', None, Recorder(), wants_pipe=True))
        self.core.calls.abandon(taken)
        _, sink, call_id = self.attach()
        self.answer(call_id, wanted := self.pipe(), result={})
        self.assertEqual(sink.result, Passed({}, wanted))

    def test_an_error_bears_none_and_neither_does_a_result_whose_end_the_system_could_not_pass(self) -> None:
        (_, refused, refused_id), (_, bare, bare_id), (_, sink, call_id) = self.attach(), self.attach(), self.attach()
        self.answer(refused_id, error={"code": "busy", "message": "m"})
        self.answer(bare_id, None, result={})
        self.answer(call_id, wanted := self.pipe(), result={})
        self.assertEqual(refused.error.code, "busy")
        self.assertEqual((bare.result, sink.result), (Passed({}, None), Passed({}, wanted)))

    def test_a_stream_is_made_with_an_end_where_its_result_says_so(self) -> None:
        (_, without, without_id), (_, sink, call_id) = self.attach(task="new"), self.attach(task="new")
        self.core.received(encode({"callbackId": without_id, "result": {"stream": "stream:1"}}) + b"\n")
        self.answer(call_id, pipe := self.pipe(), result={"stream": "stream:2", "attached": True})
        self.assertEqual(without.result, Passed({"stream": "stream:1"}, None))
        self.assertEqual(sink.result, Passed({"stream": "stream:2", "attached": True}, pipe))

    def test_a_program_that_makes_a_stream_with_an_end_itself_gets_the_result_alone(self) -> None:
        _, own, own_id = self.attach(wants_pipe=False, task="new")
        cancelled, _, cancelled_id = self.attach(task="new")
        _, sink, call_id = self.attach()
        self.core.calls.abandon(cancelled)
        pipes = [self.pipe() for _ in range(3)]
        self.answer(own_id, pipes[0], result={"attached": True})
        self.answer(cancelled_id, pipes[1], result={"attached": True})
        self.answer(call_id, pipes[2], result={})
        self.assertEqual((own.result, sink.result), ({"attached": True}, Passed({}, pipes[2])))
        self.assertEqual([pipe.fileno() for pipe in pipes[:2]], [-1, -1])

    def test_a_program_that_calls_attach_itself_gets_the_result_alone(self) -> None:
        _, own, own_id = self.attach(wants_pipe=False)
        _, sink, call_id = self.attach()
        self.answer(own_id, self.pipe(), result={})
        self.answer(call_id, wanted := self.pipe(), result={})
        self.assertEqual((own.result, sink.result), ({}, Passed({}, wanted)))

    def test_ends_that_no_result_took_are_closed_with_the_connection(self) -> None:
        pipe = self.pipe()
        self.core.received(b'{"half":', [pipe])
        self.core.lost("gone")
        self.assertEqual(pipe.fileno(), -1)


class ReceivingTests(unittest.TestCase):
    def test_an_end_that_cannot_be_passed_leaves_its_place_empty(self) -> None:
        here, there = socket.socketpair()
        ends = os.pipe()
        with here, there:
            # More descriptors than one message may contain.
            socket.send_fds(there, [b"x"], [ends[0]] * 40)
            data, pipes = receive(here, 10)
        for end in ends:
            os.close(end)
        self.assertEqual(data, b"x")
        self.assertIsNone(pipes[-1])

    def test_ends_are_closed_on_exec_and_do_not_block(self) -> None:
        here, there = socket.socketpair()
        reader, writer = os.pipe()
        with here, there:
            socket.send_fds(there, [b"line"], [reader])
            data, pipes = receive(here, 10)
        os.close(reader)
        [pipe] = pipes
        assert pipe is not None
        self.assertEqual((data, os.get_inheritable(pipe.fileno())), (b"line", False))
        self.assertIsNone(pipe.read())
        os.write(writer, b"abc")
        self.assertEqual(pipe.read(), b"abc")
        os.close(writer)
        self.assertEqual(pipe.read(), b"")

    def test_a_pipe_that_is_dropped_is_closed(self) -> None:
        reader, writer = os.pipe()
        pipe = Pipe(reader)
        del pipe
        with self.assertRaises(BrokenPipeError):
            os.write(writer, b"x")
        os.close(writer)

    def test_a_pipe_that_is_in_use_is_closed_when_it_no_longer_is(self) -> None:
        reader, writer = os.pipe()
        os.close(writer)
        pipe = Pipe(reader)
        with pipe.used():
            pipe.close()
            self.assertEqual((pipe.fileno(), pipe.read()), (reader, b""))
        self.assertEqual(pipe.fileno(), -1)
