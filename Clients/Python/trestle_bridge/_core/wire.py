"""Names in the protocol that may change. Each is defined only here.

The members of messages are in `messages`, the error codes in `errors`, and the names for plugins in `_plugin/wire.py`.
"""

from __future__ import annotations

# Tasks of the daemon that this library calls.
HELLO = "bridge.hello"
REGISTER = "bridge.register"
UNREGISTER = "bridge.unregister"
SUBSCRIBE = "bridge.subscribe"
UNSUBSCRIBE = "bridge.unsubscribe"
PUBLISH = "bridge.publish"
STREAM_NEW = "bridge.stream.new"
STREAM_WRITE = "bridge.stream.write"
STREAM_READ = "bridge.stream.read"
STREAM_ATTACH = "bridge.stream.attach"
STREAM_CLOSE = "bridge.stream.close"

# Events of the daemon that this library handles.
EVENTS_DROPPED = "bridge.events_dropped"
DAEMON_DRAINING = "daemon.draining"
SESSION_LOST = "session.lost"
WEB_CLOSE = "web.close"

# Members of messages.
TIMEOUT = "timeout"
RETAINED = "retained"
"""In an event: whether the daemon stores it and sends it to later subscribers."""
TRUSTED = "trusted"

# Members of options and results.
LIMITS = "limits"
MESSAGE_BYTES = "messageBytes"
RETAIN = "retain"
DESCRIPTIONS = "descriptions"
STREAM = "stream"
CALL = "call"
SIDE = "side"
ATTACH = "attach"
ATTACHED = "attached"
TYPE = "type"
BYTES = "bytes"
ROOM = "room"
BASE64 = "base64"
END = "end"
ERROR = "error"

STREAM_FORMAT = "trestle-stream"
"""In a schema: the format of a string that is the name of a stream."""

NO_TIMEOUT_MS = 366 * 24 * 3600 * 1000
"""The `timeout` in a message that means no timeout: the longest that the daemon accepts."""
