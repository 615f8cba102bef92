"""Bytes, lines and JSON: the parts of the core that do not depend on calls."""

from __future__ import annotations

import math
import pickle
import random
import unittest
from decimal import Decimal
from typing import Any

from trestle_bridge import BridgeError
from trestle_bridge._core import jsontext, messages
from trestle_bridge._core.framing import LineSplitter, LineTooLong
from trestle_bridge._core.output import OutputQueue


class EncodingTests(unittest.TestCase):
    def test_json_is_compact_utf_8_on_one_line(self) -> None:
        text = jsontext.encode({"a": ["弹\n😀", True, None, 1.5]})
        self.assertEqual(text, '{"a":["弹\\n😀",true,null,1.5]}'.encode())

    def test_integers_of_any_length_keep_every_digit_both_ways(self) -> None:
        decode = jsontext.decoder()
        for value in (0, -1, 2**64, 10**30 + 1, -(10**6000) + 7):
            with self.subTest(digits=math.log10(abs(value) + 1)):
                text = jsontext.encode([{"n": value}, (), {}, "é"])
                self.assertEqual(decode(text), [{"n": value}, [], {}, "é"])

    def test_decimals_go_out_as_they_are_and_come_in_where_wanted(self) -> None:
        text = b'[1.50,1E+400,0.10000000000000000000000001]'
        values = jsontext.decoder(Decimal)(text)
        self.assertEqual(values[0], Decimal("1.50"))
        self.assertEqual(jsontext.encode(values), text)
        self.assertEqual(jsontext.decoder()(text)[0], 1.5)

    def test_a_number_that_parse_float_does_not_take_comes_as_a_float(self) -> None:
        self.assertEqual(jsontext.decoder(Decimal)(b"[1e9999999999999999999999]"), [math.inf])

    def test_what_has_no_json_is_refused_with_its_place(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        cases: list[tuple[Any, str]] = [
            ({"a": [1, math.nan]}, "$.a[1]"), (-math.inf, "$"), ([Decimal("NaN")], "$[0]"),
            ({"a": {"b": "x\ud800"}}, "$.a.b"), ({"\udfff": 1}, "$"), ({"a": object()}, "$.a"),
            ({("t",): 1}, "$"), (b"bytes", "$"), ({math.inf: 1}, "$"),
        ]
        for value, path in cases:
            with self.subTest(path=path, value=ascii(value)), self.assertRaises(BridgeError) as raised:
                jsontext.encode(value)
            self.assertEqual(raised.exception.code, "options.invalid")
            self.assertEqual(raised.exception.data["path"], path)
            self.assertIs(raised.exception.started, False)
            jsontext.encode(raised.exception.to_json())
        with self.assertRaisesRegex(BridgeError, "contains itself"):
            jsontext.encode(loop)

    def test_a_line_that_is_no_json_is_a_value_error(self) -> None:
        decode = jsontext.decoder()
        for line in (b"", b"{", b"\xff", b"NaN", b"[-Infinity]", b"{}{}", b"[" * 100_000):
            with self.subTest(line=line[:10]), self.assertRaises(ValueError):
                decode(line)


class LineTests(unittest.TestCase):
    def test_lines_are_the_same_however_the_bytes_are_cut(self) -> None:
        stream = '{"a":"弹😀"}\r\n\n  \n{"b":"\U0001f1e9"}\n'.encode() + b"x" * 1000 + b"\nhalf"
        whole = list(LineSplitter(10_000).feed(stream))
        self.assertEqual(len(whole), 3)
        chooser = random.Random(7)
        for _ in range(200):
            lines: list[bytes] = []
            splitter, at = LineSplitter(10_000), 0
            while at < len(stream):
                size = chooser.randint(1, 9)
                lines += splitter.feed(stream[at:at + size])
                at += size
            self.assertEqual(lines, whole)

    def test_a_line_beyond_the_bound_is_refused_before_its_end_comes(self) -> None:
        splitter = LineSplitter(10)
        self.assertEqual(list(splitter.feed(b"0123456789\n01234")), [b"0123456789"])
        with self.assertRaises(LineTooLong):
            list(splitter.feed(b"567890"))

    def test_a_message_is_handed_on_by_its_fields(self) -> None:
        class Recorder:
            def __init__(self) -> None:
                self.seen: list[str] = []

            def __getattr__(self, name: str) -> Any:
                return lambda *arguments: self.seen.append(name)

        cases = {
            "on_event": {"event": "e"}, "on_call": {"task": "t", "callbackId": 1, "future": 1},
            "on_cancel": {"cancel": 1}, "on_progress": {"callbackId": 1, "progress": None},
            "on_callback": {"callbackId": None, "error": {}}, "on_nonsense": {"hello": 1},
        }
        for kind, message in cases.items():
            recorder: Any = Recorder()
            messages.dispatch([message, message], recorder)
            self.assertEqual(recorder.seen, [kind, kind])
        recorder = Recorder()
        nonsense: Any
        for nonsense in (1, "x", None, [[]]):
            messages.dispatch(nonsense, recorder)
        self.assertEqual(recorder.seen, ["on_nonsense"] * 4)


class OutputTests(unittest.TestCase):
    def test_a_message_has_begun_with_its_first_byte(self) -> None:
        output = OutputQueue()
        first, second = output.append(b"12345\n"), output.append(b"67\n")
        self.assertFalse(first.has_begun)
        output.advance(6)
        self.assertEqual((first.has_begun, second.has_begun), (True, False))
        output.advance(1)
        self.assertTrue(second.has_begun)
        self.assertEqual([bytes(buffer) for buffer in output.buffers()], [b"7\n"])
        output.advance(2)
        self.assertEqual(output.queued_bytes, 0)

    def test_only_a_message_of_which_nothing_is_written_is_taken_back(self) -> None:
        output = OutputQueue()
        chunks = [output.append(b"abc\n") for _ in range(3)]
        output.advance(1)
        self.assertEqual([output.take_back(chunk) for chunk in chunks[:2]], [False, True])
        self.assertEqual(output.queued_bytes, 7)
        self.assertEqual(b"".join(output.buffers()), b"bc\nabc\n")
        output.advance(7)
        self.assertEqual(output.buffers(), [])
        left = output.append(b"left\n")
        output.clear()
        self.assertFalse(output.take_back(left))
        self.assertEqual(output.queued_bytes, 0)


class ErrorTests(unittest.TestCase):
    def test_retry_after_is_in_seconds_here_and_in_milliseconds_on_the_wire(self) -> None:
        error = BridgeError.from_json({"code": "busy", "message": "m", "transient": True, "retryAfter": 1500})
        self.assertEqual((error.retry_after, error.transient), (1.5, True))
        self.assertEqual(error.to_json()["retryAfter"], 1500)

    def test_started_is_known_only_where_the_data_say_so(self) -> None:
        cases: list[tuple[Any, Any]] = [
            ({"started": True}, True), ({"started": False}, False), ({}, None), ([1], None)
        ]
        for data, started in cases:
            self.assertIs(BridgeError("c", "m", data).started, started)

    def test_an_error_without_code_and_message_is_an_invalid_reply(self) -> None:
        for json in (None, {}, {"code": 1, "message": "m"}, {"code": "c"}):
            self.assertEqual(BridgeError.from_json(json).code, "reply.invalid")

    def test_errors_can_be_pickled(self) -> None:
        error = BridgeError("c", "m", {"a": 1}, transient=True, retry_after=0.1)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual(again.to_json(), error.to_json())
        self.assertEqual(str(again), "c: m")
