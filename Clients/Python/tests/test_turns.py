"""Calls that wait to begin, and the turns of users."""

from __future__ import annotations

import asyncio
import threading
import unittest
from typing import Any, Optional

from trestle_bridge import BridgeError, IncomingCall
from trestle_bridge._core.backlog import MAX_STARTING, CallBacklog
from trestle_bridge._core.incoming import ProvidedCall
from trestle_bridge._core.output import OutputQueue
from trestle_bridge._core.providing import ProvidedTask, ProvidedTasks
from trestle_bridge._core.settings import Limits
from trestle_bridge._plugin.calls import PluginCall
from trestle_bridge._plugin.declarations import Handler
from trestle_bridge._plugin.running import FunctionRunner
from trestle_bridge._sync.handlers import HandlerThreads
from trestle_bridge.aio._handlers import HandlerTasks

from .support import TEST_TIMEOUT

FLOOD = [1000] * 100


class NoConnection:
    """A connection for calls that do not use it."""

    message_bytes = 1 << 20


def plugin_call(uid: int) -> PluginCall:
    message = {"task": "t", "options": uid, "caller": {"uid": uid}}
    return PluginCall(message, 1, lambda call, value: True, NoConnection())  # type: ignore[arg-type]


def made_call(uid: int) -> IncomingCall:
    return IncomingCall({"task": "t", "options": uid, "caller": {"uid": uid}}, 1, lambda call, value: True)


class BacklogTests(unittest.TestCase):
    def setUp(self) -> None:
        self.waiting = CallBacklog(max_of_user=4)
        self.calls = [made_call(uid) for uid in (1000, 1000, 1000, 1000, 2000, 2000)]
        for call in self.calls:
            self.assertTrue(self.waiting.append(call, None))

    def taken(self) -> list[int]:
        taken = []
        while (waiting := self.waiting.pop()) is not None:
            taken.append(self.calls.index(waiting[0]))
        return taken

    def test_users_take_turns_and_the_calls_of_each_keep_their_order(self) -> None:
        self.assertEqual(self.taken(), [0, 4, 1, 5, 2, 3])

    def test_a_cancelled_call_is_taken_out_and_takes_no_turn(self) -> None:
        removed = [self.waiting.remove(self.calls[index]) for index in (0, 0, 4, 5)]
        self.assertEqual(removed, [True, False, True, True])
        self.assertEqual(self.taken(), [1, 2, 3])

    def test_so_many_calls_of_each_user_wait(self) -> None:
        self.assertFalse(self.waiting.append(made_call(1000), None))
        self.assertTrue(self.waiting.append(made_call(2000), None))
        self.waiting.pop()
        self.assertTrue(self.waiting.append(made_call(1000), None))


class PluginTurnTests(unittest.TestCase):
    """The calls that a plugin executes."""

    def setUp(self) -> None:
        self.answers: list[tuple[ProvidedCall, Optional[BridgeError]]] = []
        self.done = threading.Condition()
        self.begun: list[int] = []
        self.own_calls = 0

    def answer(self, call: ProvidedCall, result: Optional[bytes], error: Optional[BridgeError]) -> None:
        with self.done:
            self.answers.append((call, error))
            self.done.notify()

    def wait_answers(self, number: int) -> None:
        with self.done:
            self.assertTrue(self.done.wait_for(lambda: len(self.answers) >= number, TEST_TIMEOUT))

    def runner(self, max_calls: int) -> FunctionRunner:
        return FunctionRunner(self.answer, lambda call, value: True, max_calls, lambda: self.own_calls)

    def test_of_the_calls_beyond_the_bound_users_take_turns(self) -> None:
        release = threading.Event()
        runner = self.runner(1)

        def function(options: Any, call: Any) -> None:
            release.wait(TEST_TIMEOUT)
            self.begun.append(options)

        runner.run(plugin_call(0), Handler(function))
        for uid in (1000, 2000):
            runner.run(plugin_call(uid), Handler(function))
            runner.run(plugin_call(uid), Handler(function))
        codes = [error.code for _, error in self.answers if error is not None]
        self.assertEqual(codes, ["busy", "busy"])
        release.set()
        self.wait_answers(5)
        self.assertEqual(self.begun, [0, 1000, 2000])

    def test_a_flood_of_coroutines_delays_another_users_by_few(self) -> None:
        runner = self.runner(1000)
        release, holds = threading.Event(), threading.Event()

        async def hold(options: Any, call: Any) -> None:
            holds.set()
            release.wait(TEST_TIMEOUT)

        async def function(options: Any, call: Any) -> None:
            self.begun.append(options)

        runner.run(plugin_call(0), Handler(hold))
        self.assertTrue(holds.wait(TEST_TIMEOUT))
        for uid in [*FLOOD, 2000]:
            runner.run(plugin_call(uid), Handler(function))
        release.set()
        self.wait_answers(102)
        self.assertLessEqual(self.begun.index(2000), MAX_STARTING + 1)

    def test_a_call_that_is_cancelled_while_it_waits_is_answered_at_once(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)
        runner = self.runner(1)
        runner.run(plugin_call(1000), Handler(lambda options, call: release.wait(TEST_TIMEOUT)))
        waiting = plugin_call(1000)
        runner.run(waiting, Handler(lambda options, call: self.begun.append(options)))
        runner.cancel(waiting)
        [(call, error)] = self.answers
        self.assertIs(call, waiting)
        assert error is not None
        self.assertEqual((error.code, error.started), ("call.cancelled", False))
        release.set()
        self.wait_answers(2)
        self.assertEqual(self.begun, [])

    def test_a_call_that_waits_for_one_of_the_plugins_own_gives_its_place_to_it(self) -> None:
        inner = threading.Event()
        runner = self.runner(1)

        def outer_function(options: Any, call: Any) -> None:
            self.own_calls += 1
            runner.begin_waiting()
            inner.wait(TEST_TIMEOUT)
            self.own_calls -= 1

        runner.run(plugin_call(1000), Handler(outer_function))
        runner.run(plugin_call(1000), Handler(lambda options, call: inner.set()))
        self.wait_answers(2)
        self.assertEqual([error for _, error in self.answers], [None, None])


class ClientTurnTests(unittest.TestCase):
    """The calls of tasks that a client provides."""

    def test_users_take_turns_on_the_threads_of_a_client(self) -> None:
        begun: list[int] = []
        release, holds, last = threading.Event(), threading.Event(), threading.Event()
        threads = HandlerThreads(1)

        def function(options: Any, call: IncomingCall) -> None:
            holds.set()
            release.wait(TEST_TIMEOUT)
            begun.append(options)
            if len(begun) == 102:
                last.set()

        threads.run(made_call(0), function)
        self.assertTrue(holds.wait(TEST_TIMEOUT))
        for uid in [*FLOOD, 2000]:
            threads.run(made_call(uid), function)
        release.set()
        self.assertTrue(last.wait(TEST_TIMEOUT))
        self.assertEqual(begun[:4], [0, 1000, 2000, 1000])
        threads.close(TEST_TIMEOUT)

    def test_a_flood_of_coroutines_delays_another_users_by_few(self) -> None:
        begun: list[int] = []

        async def function(options: Any, call: IncomingCall) -> None:
            begun.append(options)

        async def flood() -> None:
            tasks = HandlerTasks()
            for uid in [*FLOOD, 2000]:
                tasks.run(made_call(uid), function)
            while len(begun) < 101:
                await asyncio.sleep(0)
            await tasks.close(TEST_TIMEOUT)

        asyncio.run(flood())
        self.assertLessEqual(begun.index(2000), MAX_STARTING + 1)

    def test_a_coroutine_that_is_cancelled_while_it_waits_is_answered_at_once(self) -> None:
        begun: list[int] = []

        async def function(options: Any, call: IncomingCall) -> None:
            begun.append(options)

        class NoPump:
            def kick(self) -> None:
                pass

        async def cancel_last() -> bytes:
            output, tasks = OutputQueue(), HandlerTasks()
            provided = ProvidedTasks(output, tasks, Limits())
            provided.tasks["t"] = ProvidedTask("t", function)
            tasks.attach(NoPump(), provided, tasks._streaming)  # type: ignore[arg-type]
            for number in range(MAX_STARTING + 1):
                provided.receive({"task": "t", "callbackId": number})
            provided.cancel(MAX_STARTING)
            return b"".join(output.buffers())

        answers = asyncio.run(cancel_last())
        self.assertIn(b'"callbackId":%d,' % MAX_STARTING, answers)
        self.assertIn(b"call.cancelled", answers)
