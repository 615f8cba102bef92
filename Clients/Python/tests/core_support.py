"""A core without a socket and without a clock, for tests."""

from __future__ import annotations

import json
import logging
import unittest
from typing import Any, Optional

from trestle_bridge import Backoff, BridgeError, Event, Limits
from trestle_bridge._core.call import Call, Outcome, Success
from trestle_bridge._core.core import Core
from trestle_bridge._core.incoming import IncomingCall
from trestle_bridge._core.jsontext import encode
from trestle_bridge._core.settings import Settings


class Recorder:
    """The sink of a call."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.ends: list[Outcome] = []

    def progressed(self, value: Any) -> None:
        assert not self.ends
        self.values.append(value)

    def ended(self, outcome: Outcome) -> None:
        self.ends.append(outcome)

    @property
    def error(self) -> BridgeError:
        [end] = self.ends
        assert isinstance(end, BridgeError), end
        return end

    @property
    def result(self) -> Any:
        [end] = self.ends
        assert isinstance(end, Success), end
        return end.value


class Listener(Recorder):
    """The sink of a subscription."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.finishes: list[Optional[BridgeError]] = []

    def received(self, event: Event) -> None:
        self.events.append(event)

    def finished(self, error: Optional[BridgeError]) -> None:
        self.finishes.append(error)


class CoreTestCase(unittest.TestCase):
    """A core for which the test is both the interface and the driver."""

    limits = Limits()
    backoff: Optional[Backoff] = Backoff(random=lambda: 1.0)
    wait_for_daemon = 0.0

    def setUp(self) -> None:
        # Hides the log of the core, which these tests do not check.
        logging.getLogger("trestle_bridge").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("trestle_bridge").setLevel, logging.NOTSET)
        self.now = 100.0
        self.opens: list[bool] = []
        self.closes: list[BridgeError] = []
        self.running: list[IncomingCall] = []
        self.cancelled: list[IncomingCall] = []
        settings = Settings(
            "/s", client="test", backoff=self.backoff, limits=self.limits, wait_for_daemon=self.wait_for_daemon)
        self.core = Core(settings, self, self, lambda: self.now)
        self.core.start()

    # The interface

    def opened(self, first: bool) -> None:
        self.opens.append(first)

    def closed(self, error: BridgeError) -> None:
        self.closes.append(error)

    def run(self, *arguments: Any) -> Any:
        # TestCase and HandlerRunner both have a function with this name.
        if isinstance(arguments[0], IncomingCall):
            self.running.append(arguments[0])
            return None
        return super().run(*arguments)

    def cancel(self, call: IncomingCall) -> None:
        self.cancelled.append(call)

    def report(self, call: IncomingCall, value: bytes) -> bool:
        return self.core.provided.has_room(call, value) and self.core.provided.progress(call, value)

    # The driver

    def written(self, most_bytes: Optional[int] = None) -> list[dict[str, Any]]:
        """Writes the queued bytes, at most `most_bytes`. Returns the messages if all bytes were written."""
        data = b"".join(self.core.output.buffers())
        data = data[:most_bytes]
        self.core.output.advance(len(data))
        return [json.loads(line) for line in data.split(b"\n") if line and (most_bytes is None)]

    def feed(self, *messages: Any) -> None:
        for message in messages:
            self.core.received(encode(message) + b"\n")

    def greet(self) -> None:
        self.assertTrue(self.core.wants_connection)
        self.core.connected()
        [hello] = self.written()
        self.assertEqual((hello["task"], hello["options"]), ("bridge.hello", {"client": "test"}))
        result = {"session": 1, "limits": {"messageBytes": 1000}}
        self.feed({"callbackId": hello["callbackId"], "result": result})

    def after(self, seconds: float) -> None:
        self.now += seconds
        self.core.timers.run_due()

    def make(self, **more: Any) -> tuple[Call, Recorder]:
        sink = Recorder()
        call = Call(b'"Echo"', more.pop("options", None), sink, **more)
        self.core.submit(call)
        return call, sink
