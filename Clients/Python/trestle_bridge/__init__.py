"""A client of the Trestle daemon: call tasks, provide tasks, listen to events.

    import trestle_bridge

    with trestle_bridge.connect() as bridge:
        print(bridge.call("Echo", {"hello": "world"}, timeout=5.0))

`trestle_bridge.aio` is the same for asyncio. The names that this module exports are the library's interface;
modules whose names begin with an underscore are not.
"""

from . import aio
from ._core.backoff import Backoff
from ._core.errors import BridgeError
from ._core.events import Event
from ._core.location import default_path
from ._core.providing import Caller, IncomingCall
from ._core.retry import Retry
from ._core.settings import Limits
from ._sync.bridge import Bridge
from ._sync.connecting import connect
from ._sync.handlers import Handler
from ._sync.pending import PendingCall
from ._sync.stream import EventStream

__version__ = "0.1.0"

__all__ = [
    "Backoff", "Bridge", "BridgeError", "Caller", "Event", "EventStream", "Handler", "IncomingCall", "Limits",
    "PendingCall", "Retry", "aio", "connect", "default_path",
]
