"""A bridge that breaks a promise once in so many lines, between the clients and the daemon: what the soak must find."""

from __future__ import annotations

import asyncio
import json
import os
import select
from typing import Callable, Optional

LINE_BYTES = 8 << 20


class StandIn:
    """Passes lines on in both directions, but for one in `every`, to which it does something."""

    def __init__(self, path: str, daemon: str, fault: str, every: int) -> None:
        self.path = path
        self.daemon = daemon
        self.every = every
        self.lines = 0
        self.done = 0
        """How often it broke a promise."""
        down, up = FAULTS[fault]
        self._down, self._up = down, up
        self._server: Optional[asyncio.Server] = None
        self._hang_ups = select.epoll()
        """Descriptors of clients' sockets. It is readable itself when one of these was closed at the other end."""
        self._together: dict[int, asyncio.WriteTransport] = {}
        """By such a descriptor: the connection to the daemon that goes with the client's."""
        # Of streams that wait for each other, the loop itself keeps hold of none.
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(self._accept, self.path, limit=LINE_BYTES)
        asyncio.get_running_loop().add_reader(self._hang_ups, self._hung_up)

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        asyncio.get_running_loop().remove_reader(self._hang_ups)
        if os.path.exists(self.path):
            os.remove(self.path)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A descriptor of its own: the transport may close the other at any time, and the next client's has its number.
        client = os.dup(writer.get_extra_info("socket").fileno())
        connection = asyncio.ensure_future(self._connected(reader, writer, client))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: int) -> None:
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self.daemon, limit=LINE_BYTES)
        except OSError:
            os.close(client)
            return writer.transport.abort()
        up = asyncio.ensure_future(self._pass(reader, far_writer, self._up))
        self._together[client] = far_writer.transport
        self._hang_ups.register(client, 0)
        await self._pass(far_reader, writer, self._down)
        up.cancel()
        self._forget(client)
        far_writer.transport.abort()
        writer.close()

    def _hung_up(self) -> None:
        """A client that has closed altogether looks as one that has shut down its side; the daemon is to see which."""
        for client, _ in self._hang_ups.poll(0):
            self._together[client].abort()
            self._forget(client)

    def _forget(self, client: int) -> None:
        if self._together.pop(client, None) is not None:
            self._hang_ups.unregister(client)
            os.close(client)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: Optional[Fault]) -> None:
        """Until the end of what comes, and then says so to the other side."""
        try:
            while line := await reader.readline():
                if fault is not None:
                    line = self._change(line, fault)
                writer.write(line)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
        except (OSError, ValueError, asyncio.CancelledError):
            pass

    def _change(self, line: bytes, fault: Fault) -> bytes:
        changed = fault(line)
        if changed is None:
            return line
        self.lines += 1
        if self.lines % self.every:
            return line
        self.done += 1
        return changed


Fault = Callable[[bytes], Optional[bytes]]
"""What becomes of a line; None: this fault does not concern it."""


def _is_callback(line: bytes) -> bool:
    return line.startswith(b'{"callbackId":') and b'"result":' in line


def drop(line: bytes) -> Optional[bytes]:
    return b"" if _is_callback(line) else None


def double(line: bytes) -> Optional[bytes]:
    return line + line if _is_callback(line) else None


def rename(line: bytes) -> Optional[bytes]:
    """Another id, which nobody has."""
    return line.replace(b'{"callbackId":', b'{"callbackId":77777', 1) if _is_callback(line) else None


def garble(line: bytes) -> Optional[bytes]:
    """Another result."""
    return line.replace(b'"hello":"', b'"hello":"0', 1) if _is_callback(line) and b'"hello":"' in line else None


def lose_event(line: bytes) -> Optional[bytes]:
    return b"" if line.startswith(b'{"event":"tide.') else None


def lose_write(line: bytes) -> Optional[bytes]:
    """A write that is acknowledged, and happens to another key."""
    if not line.startswith(b'{"task":"persistence.create"') or b'"key":"k' not in line:
        return None
    return line.replace(b'"key":"k', b'"key":"lost ', 1)


def half_transaction(line: bytes) -> Optional[bytes]:
    """A transaction without its last operation."""
    if not line.startswith(b'{"task":"persistence.transaction"'):
        return None
    message = json.loads(line)
    message["options"]["operations"].pop()
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


FAULTS: dict[str, tuple[Optional[Fault], Optional[Fault]]] = {
    "drop": (drop, None), "double": (double, None), "rename": (rename, None), "garble": (garble, None),
    "lose-event": (lose_event, None), "lose-write": (None, lose_write), "half-transaction": (None, half_transaction),
}
"""By name: of what the daemon says, and of what clients say."""
