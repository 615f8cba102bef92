"""Tests that the soak finds broken promises: `make test-soak`, or `python3 -m unittest` here."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Optional

from dialects import CAPACITOR, JSONRPC, NATIVE, WEBVIEW, Incoming, read
from leaks import Count, compare, read_places, read_summary
from ledger import Call, Ledger
from records import Table, Writer
from sampler import LifeFigures, Sample, slope

FOLDER = Path(__file__).resolve().parent
PRODUCTS = Path(os.environ.get("TRESTLE_BIN", FOLDER.parents[1] / ".build/release"))


class LedgerTests(unittest.TestCase):
    """The ledger of one connection, without a connection."""

    def setUp(self) -> None:
        self.broken: list[str] = []
        self.ledger = Ledger(self.broken.append)

    def call(self, dialect: str = NATIVE, **more: Any) -> Call:
        call = Call(self.ledger.next_number(), "task", dialect, deadline=100, **more)
        self.ledger.sent(call)
        return call

    def answer(self, number: Any, dialect: str = NATIVE) -> Optional[Call]:
        return self.ledger.callback(Incoming("callback", dialect, number, {}))

    def breaks(self, *parts: str) -> None:
        self.assertEqual(len(self.broken), len(parts), self.broken)
        for broken, part in zip(self.broken, parts):
            self.assertIn(part, broken)

    def test_a_call_and_its_callback_are_even(self) -> None:
        call = self.call()
        self.assertIs(self.answer(call.number), call)
        self.assertEqual(self.ledger.ended("finished"), 0)
        self.breaks()

    def test_two_callbacks_for_one_call(self) -> None:
        self.call()
        self.answer(1)
        self.answer(1)
        self.breaks("a second callback for 1")

    def test_a_callback_that_nobody_called_for(self) -> None:
        self.answer(7)
        self.answer("x")
        self.breaks("the unknown id 7", "the unknown id 'x'")

    def test_an_id_that_is_written_in_another_way(self) -> None:
        self.call()
        self.answer("1")
        self.breaks("'1'")

    def test_a_callback_in_another_dialect(self) -> None:
        self.call(JSONRPC)
        self.answer(1, NATIVE)
        self.breaks("called in the dialect jsonrpc, is in native")

    def test_no_callback_before_the_end(self) -> None:
        self.call()
        self.assertEqual(self.ledger.ended("finished"), 1)
        self.breaks("1 calls had no callback")

    def test_no_callback_long_after_the_deadline(self) -> None:
        self.call()
        self.ledger.overdue(109, grace=10)
        self.breaks()
        self.ledger.overdue(111, grace=10)
        self.breaks("no callback for 1")

    def test_what_a_killed_daemon_owed_is_counted_and_breaks_nothing(self) -> None:
        self.call()
        self.call()
        self.answer(2)
        self.assertEqual(self.ledger.ended("lost"), 1)
        self.breaks()

    def test_a_daemon_that_stops_leaves_out_none_in_the_middle(self) -> None:
        for _ in range(4):
            self.call()
        self.answer(1)
        self.answer(3)
        self.assertEqual(self.ledger.ended("drained"), 2)
        self.breaks("no callback for 2")

    def test_a_connection_that_the_daemon_closes_for_no_reason(self) -> None:
        self.ledger.ended("alone")
        self.breaks("did nothing wrong")

    def test_an_error_about_a_good_message(self) -> None:
        self.ledger.callback(Incoming("callback", NATIVE, None, {"code": "message.invalid"}, failed=True))
        self.breaks("message.invalid")

    def test_a_bad_message_that_is_not_refused(self) -> None:
        self.ledger.refusals_due = 1
        self.ledger.ended("finished")
        self.breaks("1 bad messages were sent, and 0 were refused")

    def test_progress_out_of_order_unasked_or_too_late(self) -> None:
        self.call(wants_progress=True)
        for sequence in (0, 2, 1):
            self.ledger.progress(Incoming("progress", NATIVE, 1, sequence=sequence))
        self.call()
        self.ledger.progress(Incoming("progress", NATIVE, 2, sequence=0))
        self.answer(1)
        self.ledger.progress(Incoming("progress", NATIVE, 1, sequence=3))
        self.breaks("progress 1 of 1 after 2", "did not ask", "not in flight")


class DialectTests(unittest.TestCase):
    def test_callbacks_of_every_form(self) -> None:
        for dialect, good, bad in (
                (NATIVE, {"callbackId": 1, "result": 2}, {"callbackId": 1, "error": {"code": "busy"}}),
                (WEBVIEW, {"responseId": 1, "responseData": 2},
                 {"responseId": 1, "responseData": {"error": {"code": "busy"}}}),
                (JSONRPC, {"jsonrpc": "2.0", "id": 1, "result": 2},
                 {"jsonrpc": "2.0", "id": 1, "error": {"code": -32007, "data": {"code": "busy"}}}),
                (CAPACITOR, {"callbackId": 1, "methodName": "a", "save": False, "success": True, "data": 2},
                 {"callbackId": 1, "methodName": "a", "save": False, "success": False, "error": {"code": "busy"}})):
            self.assertEqual(read(good), Incoming("callback", dialect, 1, 2), dialect)
            self.assertEqual((read(bad).kind, read(bad).failed, read(bad).code), ("callback", True, "busy"), dialect)

    def test_what_is_none(self) -> None:
        for message in (7, {}, {"callbackId": 1}, {"callbackId": 1, "result": 1, "error": {}}):
            self.assertEqual(read(message).kind, "unknown", message)


class RecordTests(unittest.TestCase):
    """The allowed states of a table, without a store."""

    def setUp(self) -> None:
        self.broken: list[str] = []
        self.writer = Writer.__new__(Writer)
        self.writer.table = Table("t")
        self.writer.client = self  # The only used member of a client: `broke`.

    def broke(self, what: str) -> None:
        self.broken.append(what)

    def check(self, *values: int) -> None:
        self.writer.check_group("g", dict(zip(self.writer.table.keys_of("g"), values)))

    def test_a_whole_transaction_and_one_of_unknown_end(self) -> None:
        self.writer.table.groups["g"] = 3
        self.check(3, 3, 3, 3, 3)
        self.writer.table.unsure_groups["g"] = {3, 4}
        self.check(4, 4, 4, 4, 4)
        self.assertEqual(self.broken, [])

    def test_half_a_transaction_and_a_lost_one(self) -> None:
        self.writer.table.groups["g"] = 3
        self.check(3, 3, 2, 3, 3)
        self.check(2, 2, 2, 2, 2)
        self.check()
        self.assertEqual(len(self.broken), 3)
        self.assertIn("half a transaction", self.broken[0])


class FigureTests(unittest.TestCase):
    def test_a_slope_is_that_of_the_line_through_the_points(self) -> None:
        self.assertAlmostEqual(slope([(x, 5 + 2 * x) for x in range(10)]) or 0, 7200)
        self.assertAlmostEqual(slope([(x, 5) for x in range(10)]) or 0, 0)
        self.assertIsNone(slope([(0, 1), (1, 2)]))

    def test_a_life_is_measured_at_rest_and_after_its_warm_up(self) -> None:
        life = LifeFigures(1, False)
        for second in range(100):
            warm = 1000 if second >= 20 else second * 50
            life.samples.append(Sample(second, warm + second, 10, 5, 3, at_rest=True))
            life.samples.append(Sample(second, 1_000_000, 99, 5, 3, at_rest=False))
        self.assertAlmostEqual(life.slope("anonymous") or 0, 3600)
        self.assertAlmostEqual(life.slope("descriptors") or 0, 0)
        self.assertEqual(life.most("descriptors"), 99)


class LeakTests(unittest.TestCase):
    SUMMARY = """
        ==1==    definitely lost: 1,024 bytes in 2 blocks
        ==1==    indirectly lost: 0 bytes in 0 blocks
        ==1==      possibly lost: 32 bytes in 1 blocks
        ==1==    still reachable: 3,000 bytes in 40 blocks
        """

    def test_what_grows_with_the_cycles_is_found(self) -> None:
        once = read_summary(self.SUMMARY)
        self.assertEqual(once["definitely lost"], Count(1024, 2))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(compare(once, once, 40))
            self.assertFalse(compare(once, {**once, "still reachable": Count(3000 + 40 * 100, 80)}, 40))
            moved = {**once, "possibly lost": Count(2999, 79), "still reachable": Count(1, 1)}
            self.assertTrue(compare({**once, "possibly lost": Count(0, 0), "still reachable": Count(3000, 80)}, moved, 1))

    def test_what_has_grown_is_named_by_its_place(self) -> None:
        record = """
==7== {} ({} direct, 32 indirect) bytes in {} blocks are {} in loss record 1 of 9
==7==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==7==    by 0x2DE9F9: $sOpen (in /products/trestled)
==7== """
        text = record.format("1,032", "1,000", 3, "definitely lost") + record.format(64, 32, 1, "still reachable")
        self.assertEqual(read_places(text), {("malloc", "$sOpen"): Count(1096, 4)})


class RunTests(unittest.TestCase):
    """The whole soak, against the daemon, and against stand-ins that break one promise each."""

    def run_soak(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(FOLDER / "main.py"), "--products", str(PRODUCTS), "--seed", "5", *arguments],
            capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_a_good_daemon_keeps_every_promise(self) -> None:
        status, said = self.run_soak("--time", "10s")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"\n  neither +0\n")

    def finds(self, fault: str, every: int, pattern: str) -> None:
        status, said = self.run_soak("--time", "60s", "--stand-in", fault, "--every", str(every))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"The stand-in broke [1-9]")
        self.assertRegex(said, pattern)

    def test_one_callback_in_ten_thousand_that_is_dropped(self) -> None:
        self.finds("drop", 10_000, "no callback")

    def test_one_callback_in_ten_thousand_that_comes_twice(self) -> None:
        self.finds("double", 10_000, "a second callback")

    def test_a_callback_of_another_id(self) -> None:
        self.finds("rename", 10_000, "unknown id")

    def test_a_wrong_result(self) -> None:
        self.finds("garble", 1000, "wrong result")

    def test_an_event_that_is_lost(self) -> None:
        self.finds("lose-event", 1000, "events [0-9]+ came")

    def test_an_acknowledged_write_that_is_lost(self) -> None:
        self.finds("lose-write", 20, "None")

    def test_half_a_transaction(self) -> None:
        self.finds("half-transaction", 20, "half a transaction|was to fail")


if __name__ == "__main__":
    unittest.main()
