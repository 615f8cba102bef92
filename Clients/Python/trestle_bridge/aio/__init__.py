"""The asyncio interface: a bridge for programs with an event loop.

    import asyncio
    from trestle_bridge import aio

    async def main():
        async with aio.connect() as bridge:
            print(await bridge.call("Echo", {"hello": "world"}, timeout=5.0))

    asyncio.run(main())

All objects belong to the thread of the event loop and must not be used from another thread. `async` functions of a
`Plugin` get `PluginCall` and `InterceptedCall`.
"""

from .._plugin.aio_calls import PluginCall
from .._plugin.interceptors import AsyncInterceptedCall as InterceptedCall
from ._bridge import Bridge
from .._streams.aio_ends import ByteReader, ByteWriter
from ._connecting import Connecting, connect
from ._handlers import Handler
from ._pending import PendingCall
from ._registration import Registration
from ._stream import EventStream

__all__ = [
    "Bridge", "ByteReader", "ByteWriter", "Connecting", "EventStream", "Handler", "InterceptedCall", "PendingCall",
    "PluginCall", "Registration", "connect",
]
