"""Names that go over the wire, and that the protocol may change: each stands here, and nowhere else.

The fields of messages are in `messages`, the codes of errors in `errors`, what concerns plugins in
`_plugin/wire.py`.
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

# Events of the daemon that this library acts on.
EVENTS_DROPPED = "bridge.events_dropped"
DAEMON_DRAINING = "daemon.draining"
SESSION_LOST = "session.lost"
WEB_CLOSE = "web.close"

# Fields of messages.
TIMEOUT = "timeout"
RETAINED = "retained"
"""Of an event: its publisher retains it, and the daemon sends it to later subscribers."""
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
"""In a schema: the string is the name of a stream."""

NO_TIMEOUT_MS = 366 * 24 * 3600 * 1000
"""The `timeout` of a call that has none: the longest that the daemon knows."""
