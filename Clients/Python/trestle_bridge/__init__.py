"""A client library for the Trestle daemon, and a library for plugins. It calls tasks, provides tasks and subscribes to
events.

    import trestle_bridge

    with trestle_bridge.connect() as bridge:
        print(bridge.call("Echo", {"hello": "world"}, timeout=5.0))

`trestle_bridge.aio` is the same interface for asyncio. `Plugin` is a plugin of the daemon in a separate process. The
names that these modules export are public. Modules whose names begin with an underscore are private.
"""

from . import aio
from ._core.backoff import Backoff
from ._core.description import Schema, TaskDescription
from ._core.errors import BridgeError
from ._core.events import Event
from ._core.incoming import Caller, IncomingCall
from ._core.jsontext import JSONValue
from ._core.location import default_socket
from ._core.retry import Retry
from ._core.settings import Limits
from ._core.stream_values import Stream
from ._plugin.calls import PluginCall
from ._plugin.declaring import SessionChange
from ._plugin.interceptors import Decision, InterceptedCall
from ._plugin.launch import LaunchOptions
from ._plugin.log import PluginLog, PluginLogHandler
from ._plugin.plugin import Plugin
from ._sync.bridge import Bridge
from ._streams.ends import ByteReader, ByteWriter
from ._sync.connecting import connect
from ._sync.handlers import Handler
from ._sync.pending import PendingCall
from ._sync.registration import Registration
from ._sync.stream import EventStream

__version__ = "0.1.0"

__all__ = [
    "Backoff", "Bridge", "BridgeError", "ByteReader", "ByteWriter", "Caller", "Decision", "Event", "EventStream",
    "Handler", "IncomingCall", "InterceptedCall", "JSONValue", "LaunchOptions", "Limits", "PendingCall", "Plugin",
    "PluginCall", "PluginLog", "PluginLogHandler", "Registration", "Retry", "Schema", "SessionChange", "Stream",
    "TaskDescription", "aio", "connect", "default_socket",
]
