"""Tests of the plugin's functions, without a daemon."""

from __future__ import annotations

import asyncio
import io
import threading
import unittest
from typing import Any, Optional
from unittest import mock

from test_thumbnail import encoded  # first: it skips where there is no Pillow
from PIL import Image

import thumbnail
from tests.support import TEST_TIMEOUT
from trestle_bridge import BridgeError


class CancelTests(unittest.TestCase):
    def test_it_ends_at_the_next_step(self) -> None:
        for at in ("decoded", "scaled"):
            call, file = CancelledAt(at), io.BytesIO(encoded(Image.new("RGB", (80, 60))))
            with self.assertRaises(BridgeError):
                thumbnail.make_thumbnail(file, {"width": 10, "height": 10}, call)  # type: ignore[arg-type]
            self.assertEqual(call.step, at)

    def test_a_cancelled_call_ends_with_its_step(self) -> None:
        asyncio.run(self.cancel_at_work())

    async def cancel_at_work(self) -> None:
        begun, may_end = threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            may_end.wait(TEST_TIMEOUT)

        call = asyncio.create_task(thumbnail.run_to_end(work))
        await asyncio.to_thread(begun.wait, TEST_TIMEOUT)
        call.cancel()
        # The callbacks that are due in the loop run before this continues.
        await asyncio.to_thread(lambda: None)
        self.assertFalse(call.done())
        may_end.set()
        with self.assertRaises(asyncio.CancelledError):
            await call


class ByteLimitTests(unittest.TestCase):
    def test_a_picture_beyond_it_is_refused_before_it_is_read_whole(self) -> None:
        photo = Chunks([bytes(100)] * 5)
        with mock.patch.object(thumbnail, "MAX_BYTES", 250), self.assertRaises(BridgeError) as raised:
            asyncio.run(thumbnail.read(photo))  # type: ignore[arg-type]
        error = raised.exception
        self.assertEqual((error.code, error.data), ("thumbnail.too_large", {"maximumBytes": 250}))
        self.assertIn("more than 250 bytes", error.message)
        self.assertEqual(len(photo.rest), 2)

    def test_a_picture_of_just_as_many_bytes_is_read(self) -> None:
        with mock.patch.object(thumbnail, "MAX_BYTES", 500):
            file = asyncio.run(thumbnail.read(Chunks([bytes(100)] * 5)))  # type: ignore[arg-type]
        self.assertEqual(file.read(), bytes(500))


class Chunks:
    """A stream of these chunks."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.rest = chunks

    def __aiter__(self) -> Chunks:
        return self

    async def __anext__(self) -> bytes:
        if not self.rest:
            raise StopAsyncIteration
        return self.rest.pop(0)


class CancelledAt:
    """A call that is cancelled from a certain step on."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.step: Optional[str] = None

    def report_progress(self, value: Any) -> bool:
        self.step = value["step"]
        return True

    def check_cancelled(self) -> None:
        if self.step == self.at:
            raise BridgeError("call.cancelled", "it was")
