"""Streams in options and results, with the asyncio interface and a real daemon."""

from __future__ import annotations

import asyncio
import io
import os
from typing import Any, AsyncIterator, Awaitable

from trestle_bridge import BridgeError, IncomingCall, Stream, TaskDescription

from .aio_support import AsyncTestCase

PHOTO = TaskDescription(options={
    "type": "object", "properties": {"photo": {"type": "string", "format": "trestle-stream"}},
})


class StreamValueTests(AsyncTestCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.other = await self.connect()
        self.closed = asyncio.Event()

    async def endless(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"more" * 10_000
        finally:
            self.closed.set()

    async def fails(self, work: Awaitable[Any]) -> BridgeError:
        with self.assertRaises(BridgeError) as raised:
            await work
        return raised.exception

    async def provide_size(self) -> None:
        async def size(options: Any, call: IncomingCall) -> int:
            return len(await options["photo"].read())

        await self.other.register("photo.size", size, description=PHOTO)

    async def test_sources_of_every_kind_go_to_a_task_which_gets_a_reader(self) -> None:
        async def parts() -> AsyncIterator[bytes]:
            for _ in range(10):
                yield bytes(100_000)

        await self.provide_size()
        for source in (bytes(1_000_000), io.BytesIO(bytes(1_000_000)), iter([bytes(1_000_000)]), parts()):
            stream = Stream(source, "image/png", 1_000_000)
            self.assertEqual(await self.bridge.call("photo.size", {"photo": stream}), 1_000_000)

    async def test_a_result_has_a_stream_and_a_reader_is_a_source(self) -> None:
        async def copy(options: Any, call: IncomingCall) -> Any:
            return [Stream(options["photo"])]

        await self.other.register("photo.copy", copy, description=PHOTO)
        data = os.urandom(1_000_001)
        [name] = await self.bridge.call("photo.copy", {"photo": Stream(data)})
        self.assertEqual(await self.bridge.read_stream(name).read(), data)

    async def test_a_call_that_is_refused_or_fails_ends_its_streams_and_closes_the_generator(self) -> None:
        async def fail(options: Any, call: IncomingCall) -> None:
            await anext(options["photo"])
            raise BridgeError("photo.dull", "the photo is dull")

        await self.other.register("photo.fail", fail, description=PHOTO)
        error = await self.fails(self.bridge.call("photo.fail", {"photo": Stream(self.endless())}))
        self.assertEqual(error.code, "photo.dull")
        await self.within(self.closed)
        file = io.BytesIO(bytes(1_000_000))
        self.assertEqual((await self.fails(self.bridge.call("no.such.task", Stream(file)))).code, "task.not_found")
        while not file.closed:
            await asyncio.sleep(0)

    async def test_a_call_that_cannot_be_sent_closes_its_sources(self) -> None:
        file = io.BytesIO()
        await self.bridge.close()
        self.assertEqual((await self.fails(self.bridge.call("photo.size", Stream(file)))).code, "session.closed")
        await asyncio.sleep(0)
        self.assertTrue(file.closed)

    async def test_a_caller_that_is_cancelled_ends_its_streams(self) -> None:
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def wait(options: Any, call: IncomingCall) -> None:
            await anext(options["photo"])
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        await self.other.register("photo.wait", wait, description=PHOTO)
        calling = asyncio.ensure_future(self.bridge.call("photo.wait", {"photo": Stream(self.endless())}))
        await self.within(begun)
        calling.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await calling
        await self.within(self.closed)
        await self.within(cancelled)

    async def test_a_reader_that_leaves_early_or_is_dropped_closes_the_generator(self) -> None:
        async def peek(options: Any, call: IncomingCall) -> None:
            async with options["photo"] as photo:
                await anext(photo)

        async def ignore(options: Any, call: IncomingCall) -> None:
            pass

        for handler in (peek, ignore):
            self.closed.clear()
            await self.other.register("photo.peek", handler, description=PHOTO)
            await self.bridge.call("photo.peek", {"photo": Stream(self.endless())})
            await self.within(self.closed)

    async def test_a_caller_that_leaves_early_closes_the_generator_of_a_result(self) -> None:
        async def get(options: Any, call: IncomingCall) -> Any:
            return Stream(self.endless())

        await self.other.register("photo.get", get)
        async with self.bridge.read_stream(await self.bridge.call("photo.get")) as reader:
            await anext(reader)
        await self.within(self.closed)

    async def test_what_a_generator_raises_reaches_the_reader_and_is_the_cause_of_the_callers_error(self) -> None:
        async def parts() -> AsyncIterator[bytes]:
            yield b"half"
            raise KeyError("paper")

        await self.provide_size()
        error = await self.fails(self.bridge.call("photo.size", {"photo": Stream(parts())}))
        self.assertEqual((error.code, repr(error.__cause__)), ("stream.closed", "KeyError('paper')"))
        self.assertIn("paper", error.message)

    async def test_a_stream_that_is_read_once_is_sent_once(self) -> None:
        once = Stream(self.endless())
        for options in ([once, once], [once]):
            error = await self.fails(self.bridge.call("Echo", options))
            self.assertEqual((error.code, error.started), ("options.invalid", False))
            self.assertIn("its source (async_generator) can be read once", error.message)

    async def test_a_read_whose_waiting_is_cancelled_loses_no_bytes(self) -> None:
        writer = await self.bridge.make_stream()
        reader = self.other.read_stream(writer.name)
        waiting = asyncio.ensure_future(anext(reader))
        await self.other.call("Echo")
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        await writer.write(b"abc")
        _, received = await asyncio.gather(writer.close(), reader.read())
        self.assertEqual(received, b"abc")
