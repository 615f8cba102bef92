"""Streams of the asyncio interface over pipes, with a real daemon."""

from __future__ import annotations

import asyncio
import hashlib
import os

from trestle_bridge import BridgeError
from trestle_bridge.aio import ByteReader, ByteWriter

from .aio_support import AsyncTestCase
from .pipe_support import open_files

BIG = 32 << 20


class PipeTests(AsyncTestCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.other = await self.connect()
        self.pipes_before = open_files("pipe:")

    def pipes(self) -> list[int]:
        """Returns the ends of pipes that streams hold."""
        return [number for number in open_files("pipe:") if number not in self.pipes_before]

    async def pair(self) -> tuple[ByteWriter, ByteReader]:
        """Returns both ends as pipes, after four bytes were transferred."""
        writer = await self.bridge.make_stream()
        reader = self.other.read_stream(writer.name)
        await writer.write(b"half")
        self.assertEqual(await anext(reader), b"half")
        self.assertEqual(len(self.pipes()), 2)
        return writer, reader

    async def test_32_mib_arrive_whole_and_no_descriptor_is_left_open(self) -> None:
        before = open_files()
        data = os.urandom(BIG)
        digest = hashlib.sha256()
        writer = await self.bridge.make_stream()

        async def write() -> None:
            async with writer:
                await writer.write(data)

        writing = asyncio.ensure_future(write())
        async for chunk in self.other.read_stream(writer.name):
            digest.update(chunk)
        await writing
        self.assertEqual(digest.digest(), hashlib.sha256(data).digest())
        self.assertEqual(open_files(), before)

    async def test_a_reader_that_waits_is_cancelled_and_nothing_is_lost(self) -> None:
        writer, reader = await self.pair()
        waiting = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        await writer.write(b"rest")
        _, rest = await asyncio.gather(writer.close(), reader.read())
        self.assertEqual(rest, b"rest")
        self.assertEqual(self.pipes(), [])

    async def test_on_an_error_the_reader_gets_what_is_in_the_pipe_and_then_the_error(self) -> None:
        writer, reader = await self.pair()
        await writer.write(b" of it")
        writer.abort(BridgeError("disk.full", "the disk is full"))
        self.assertEqual(await anext(reader), b" of it")
        with self.assertRaises(BridgeError) as raised:
            await anext(reader)
        self.assertEqual(raised.exception.data["error"]["code"], "disk.full")
        self.assertEqual(self.pipes(), [])

    async def test_a_writer_that_waits_for_room_learns_that_the_reader_has_closed(self) -> None:
        writer, reader = await self.pair()
        writing = asyncio.ensure_future(writer.write(bytes(1_000_000)))
        await anext(reader)
        self.assertFalse(writing.done())
        reader.close()
        with self.assertRaises(BridgeError) as raised:
            await writing
        self.assertEqual((raised.exception.code, raised.exception.data["by"]), ("stream.closed", "reader"))
        self.assertEqual(self.pipes(), [])

    async def test_ends_that_are_closed_while_they_are_waited_for_wake_up(self) -> None:
        writer, reader = await self.pair()
        writing = asyncio.ensure_future(writer.write(bytes(1_000_000)))
        await anext(reader)
        writer.abort()
        with self.assertRaises(BridgeError):
            await writing
        reader.close()
        self.assertEqual(self.pipes(), [])
        _, reader = await self.pair()
        reading = asyncio.ensure_future(anext(reader))
        await asyncio.sleep(0)
        reader.close()
        with self.assertRaises((BridgeError, StopAsyncIteration)):
            await reading

    async def test_a_pipe_that_is_always_ready_does_not_keep_others_from_the_loop(self) -> None:
        writer, reader = await self.pair()
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        await writer.write(bytes(4096))
        await writer.write(bytes(4096))
        before = turns
        await writer.write(bytes(4096))
        self.assertGreater(turns, before)
        await anext(reader)
        await writer.write(bytes(4096))
        before = turns
        await anext(reader)
        self.assertGreater(turns, before)
        counting.cancel()
        writer.abort()
        reader.close()
