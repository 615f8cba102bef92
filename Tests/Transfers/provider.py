"""A client that provides a task, which answers with a copy of a stream while it reads it."""

import sys
import threading

from places import trestle_bridge

with trestle_bridge.connect(sys.argv[1]) as bridge:
    def copy(options, call):
        return {"photo": bridge.send_stream(bridge.read_stream(options["photo"], call=call), call=call)}

    stream = {"type": "object", "properties": {"photo": {"type": "string", "format": "trestle-stream"}}}
    bridge.register("client.copy", copy, description={"options": stream, "result": stream})
    threading.Event().wait()
