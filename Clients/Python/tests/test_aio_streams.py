"""Streams of the asyncio interface with a real daemon."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from trestle_bridge import BridgeError, IncomingCall
from trestle_bridge.aio import ByteWriter

from .aio_support import AsyncTestCase


class StreamTests(AsyncTestCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.other = await self.connect()

    async def test_megabytes_go_whole(self) -> None:
        data = os.urandom(2_000_001)
        writer = await self.bridge.make_stream(total_bytes=len(data))

        async def write() -> None:
            async with writer:
                await writer.write(data)

        reader = self.other.read_stream(writer.name)
        _, received = await asyncio.gather(write(), reader.read())
        self.assertEqual(received, data)

    async def test_a_handler_reads_its_callers_stream_and_answers_with_one(self) -> None:
        tasks = []

        async def write(writer: ByteWriter, data: bytes) -> None:
            async with writer:
                await writer.write(data)

        async def turn(options: Any, call: IncomingCall) -> Any:
            data = await self.other.read_stream(options, call=call).read()
            writer = await self.other.make_stream(call=call)
            tasks.append(asyncio.ensure_future(write(writer, data[::-1])))
            return writer.name

        await self.other.register("photo.turn", turn)
        async with await self.bridge.make_stream() as writer:
            pending = self.bridge.submit("photo.turn", writer.name)
            await writer.write(b"abc")
        async with self.bridge.read_stream(await pending.result()) as reader:
            self.assertEqual([chunk async for chunk in reader], [b"cba"])
        await tasks[0]

    async def test_a_stream_that_its_reader_made_is_written_to(self) -> None:
        reader = await self.bridge.make_stream_to_read()

        async def write() -> None:
            async with self.other.write_stream(reader.name) as writer:
                await writer.write(b"hello")

        _, received = await asyncio.gather(write(), reader.read())
        self.assertEqual(received, b"hello")

    async def test_each_side_learns_that_the_other_one_ended_early(self) -> None:
        writer = await self.bridge.make_stream()
        async with self.other.read_stream(writer.name):
            pass
        with self.assertRaises(BridgeError) as raised:
            while True:
                await writer.write(b"more" * 10_000)
        self.assertEqual((raised.exception.code, raised.exception.data["by"]), ("stream.closed", "reader"))
        second = await self.bridge.make_stream()
        reader = self.other.read_stream(second.name)
        second.abort(BridgeError("disk.full", "the disk is full"))
        with self.assertRaises(BridgeError) as raised:
            await reader.read()
        self.assertEqual(raised.exception.data["error"]["code"], "disk.full")

    async def test_a_reader_that_stalls_stalls_its_writer(self) -> None:
        writer = await self.bridge.make_stream()
        writing = asyncio.ensure_future(writer.write(bytes(1_000_000)))
        status = await self.other.call("bridge.status")
        self.assertLessEqual(status["streamBytes"], 262_144)
        self.assertFalse(writing.done())
        reader = self.other.read_stream(writer.name)
        received = asyncio.ensure_future(reader.read())
        await writing
        await writer.close()
        self.assertEqual(len(await received), 1_000_000)
