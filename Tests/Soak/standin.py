"""A proxy between the clients and the daemon that breaks a promise in one of many lines, which the soak must find."""

from __future__ import annotations

import asyncio
import json
import os
import select
from typing import Callable, Optional

LINE_BYTES = 8 << 20


class StandIn:
    """Passes lines on in both directions, and applies a fault to one in `every`."""

    def __init__(self, path: str, daemon: str, fault: str, every: int) -> None:
        self.path = path
        self.daemon = daemon
        self.every = every
        self.lines = 0
        self.done = 0
        """The number of promises that it broke."""
        down, up = FAULTS[fault]
        self._down, self._up = down, up
        self._server: Optional[asyncio.Server] = None
        self._hang_ups = select.epoll()
        """The descriptors of clients' sockets. The epoll set is readable if one of these was closed at the other
        end."""
        self._together: dict[int, asyncio.WriteTransport] = {}
        """The connection to the daemon, by the descriptor of the client's connection."""
        # The loop itself keeps no reference to streams that wait for each other.
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
        # A duplicated descriptor: the transport may close its own at any time, and the next client may get the same
        # number.
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
        """Passes on the end of a client. A closed connection looks like a half-closed one; the daemon must see the
        difference."""
        for client, _ in self._hang_ups.poll(0):
            self._together[client].abort()
            self._forget(client)

    def _forget(self, client: int) -> None:
        if self._together.pop(client, None) is not None:
            self._hang_ups.unregister(client)
            os.close(client)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fault: Optional[Fault]) -> None:
        """Passes lines on until the end of the input, and then ends the output."""
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
"""Changes a line; returns None if the fault does not apply to it."""


def _is_callback(line: bytes) -> bool:
    return line.startswith(b'{"callbackId":') and b'"result":' in line


def drop(line: bytes) -> Optional[bytes]:
    return b"" if _is_callback(line) else None


def double(line: bytes) -> Optional[bytes]:
    return line + line if _is_callback(line) else None


def rename(line: bytes) -> Optional[bytes]:
    """Changes the id to one without a call."""
    return line.replace(b'{"callbackId":', b'{"callbackId":77777', 1) if _is_callback(line) else None


def garble(line: bytes) -> Optional[bytes]:
    """Changes the result."""
    return line.replace(b'"hello":"', b'"hello":"0', 1) if _is_callback(line) and b'"hello":"' in line else None


def lose_event(line: bytes) -> Optional[bytes]:
    return b"" if line.startswith(b'{"event":"tide.') else None


def lose_write(line: bytes) -> Optional[bytes]:
    """Redirects a write to another key, so that an acknowledged write is lost."""
    if not line.startswith(b'{"task":"persistence.create"') or b'"key":"k' not in line:
        return None
    return line.replace(b'"key":"k', b'"key":"lost ', 1)


def half_transaction(line: bytes) -> Optional[bytes]:
    """Removes the last operation of a transaction."""
    if not line.startswith(b'{"task":"persistence.transaction"'):
        return None
    message = json.loads(line)
    message["options"]["operations"].pop()
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


FAULTS: dict[str, tuple[Optional[Fault], Optional[Fault]]] = {
    "drop": (drop, None), "double": (double, None), "rename": (rename, None), "garble": (garble, None),
    "lose-event": (lose_event, None), "lose-write": (None, lose_write), "half-transaction": (None, half_transaction),
}
"""By name: the faults of the daemon's lines, and of the clients' lines."""
