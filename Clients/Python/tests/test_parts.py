"""Small parts, each tested separately: timers, back-off, socket location, mailboxes and others."""

from __future__ import annotations

import unittest
from typing import Any, Callable, Optional

from trestle_bridge import Backoff, BridgeError, default_socket
from trestle_bridge._core.events import matches
from trestle_bridge._core.retry import retry_pause
from trestle_bridge._core.timers import Timers
from trestle_bridge._sync.mailbox import Ended, Mailbox


class BackoffTests(unittest.TestCase):
    def test_pauses_grow_to_a_bound_and_are_jittered(self) -> None:
        low, high = Backoff(random=lambda: 0.0), Backoff(random=lambda: 1.0)
        self.assertEqual([high.pause(n) for n in range(4)], [0.1, 0.2, 0.4, 0.8])
        self.assertEqual([low.pause(n) for n in range(3)], [0.05, 0.1, 0.2])
        self.assertEqual(high.pause(10_000), 15.0)

    def test_a_back_off_that_makes_no_sense_is_refused(self) -> None:
        bad: list[dict[str, Any]] = [
            {"first": -1.0}, {"factor": 0.5}, {"max_pause": 0.01}, {"first": float("nan")}
        ]
        for arguments in bad:
            with self.subTest(arguments), self.assertRaises(ValueError):
                Backoff(**arguments)


class RetryTests(unittest.TestCase):
    def test_only_what_the_policy_allows_is_sent_again(self) -> None:
        unstarted = BridgeError("daemon.stopping", "m", {"started": False}, transient=True)
        begun = BridgeError("session.closed", "m", {"started": True}, transient=True)
        final = BridgeError("task.not_found", "m")
        self.assertIsNone(retry_pause(unstarted, "never", 0, None))
        self.assertIsNotNone(retry_pause(unstarted, "unstarted", 0, None))
        self.assertIsNone(retry_pause(begun, "unstarted", 0, None))
        self.assertIsNotNone(retry_pause(begun, "transient", 0, None))
        self.assertIsNone(retry_pause(final, "transient", 0, None))

    def test_a_call_is_sent_five_times_at_most(self) -> None:
        busy = BridgeError("busy", "m", {"started": False}, transient=True, retry_after=0.5)
        self.assertEqual([retry_pause(busy, "unstarted", attempt, None) for attempt in (3, 4)], [0.5, None])

    def test_the_daemons_pause_is_kept_and_must_fit_the_timeout(self) -> None:
        busy = BridgeError("busy", "m", transient=True, retry_after=0.5)
        self.assertEqual(retry_pause(busy, "transient", 3, 1.0), 0.5)
        self.assertIsNone(retry_pause(busy, "transient", 0, 0.4))


class LocationTests(unittest.TestCase):
    def path(
        self, environ: dict[str, str], uid: int, existing: tuple[str, ...] = (), owner: Optional[int] = None
    ) -> str:
        return default_socket(environ, uid, lambda path: path in existing, lambda path: owner)

    def test_the_variable_comes_first_unless_it_is_empty(self) -> None:
        self.assertEqual(self.path({"TRESTLE_SOCKET": "/a"}, 0), "/a")
        self.assertEqual(self.path({"TRESTLE_SOCKET": ""}, 0), "/run/trestle/bridge.sock")

    def test_a_user_has_a_socket_in_the_runtime_directory(self) -> None:
        own = "/run/user/7/trestle/bridge.sock"
        environ = {"XDG_RUNTIME_DIR": "/run/user/7"}
        system = "/run/trestle/bridge.sock"
        self.assertEqual(self.path(environ, 7), own)
        self.assertEqual(self.path(environ, 7, (own, system)), own)
        self.assertEqual(self.path(environ, 7, (system,)), system)
        self.assertEqual(self.path(environ, 0, (own,)), system)

    def test_a_folder_in_tmp_is_used_only_where_it_is_this_users(self) -> None:
        self.assertEqual(self.path({}, 7, owner=7), "/tmp/trestle-7/bridge.sock")
        self.assertEqual(self.path({}, 7, owner=8), "/run/trestle/bridge.sock")
        self.assertEqual(self.path({}, 7), "/run/trestle/bridge.sock")


class TimerTests(unittest.TestCase):
    def setUp(self) -> None:
        self.now = 0.0
        self.timers = Timers(lambda: self.now)
        self.done: list[str] = []

    def note(self, name: str) -> Callable[[], None]:
        return lambda: self.done.append(name)

    def test_what_is_due_is_done_in_order_and_once(self) -> None:
        self.timers.after(2, self.note("late"))
        self.timers.after(1, self.note("first"))
        self.timers.after(1, self.note("second"))
        self.timers.after(1, self.note("never")).cancel()
        self.assertEqual(self.timers.next_at, 1)
        self.now = 1.0
        self.timers.run_due()
        self.timers.run_due()
        self.assertEqual(self.done, ["first", "second"])
        self.assertEqual(self.timers.next_at, 2)

    def test_cancelled_timers_do_not_pile_up(self) -> None:
        kept = self.timers.after(500, self.note("kept"))
        for _ in range(10_000):
            self.timers.after(1000, self.note("never")).cancel()
        self.assertLess(len(self.timers._heap), 200)
        kept.cancel()
        self.assertIsNone(self.timers.next_at)


class MailboxTests(unittest.TestCase):
    def test_the_oldest_are_dropped_and_counted(self) -> None:
        box: Mailbox[int, str] = Mailbox(2)
        for value in range(5):
            box.put(value)
        self.assertEqual((box.take_dropped(), box.take_dropped()), (3, 0))
        self.assertEqual([box.take(), box.take()], [3, 4])

    def test_the_end_comes_last_and_then_for_ever(self) -> None:
        box: Mailbox[int, str] = Mailbox(2)
        with self.assertRaises(TimeoutError):
            box.take(0)
        box.put(1)
        box.finish("over")
        box.finish("again")
        self.assertEqual(box.take(), 1)
        for _ in range(3):
            end = box.take()
            assert isinstance(end, Ended)
            self.assertEqual(end.how, "over")


class PatternTests(unittest.TestCase):
    def test_a_star_at_the_end_stands_for_any_rest(self) -> None:
        self.assertTrue(matches("record.*", "record.changed"))
        self.assertTrue(matches("*", "x"))
        self.assertTrue(matches("door", "door"))
        self.assertFalse(matches("record.*", "record"))
        self.assertFalse(matches("door", "doors"))
