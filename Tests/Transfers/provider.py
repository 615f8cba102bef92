"""A client that provides a task, which answers with a copy of a stream while it reads it."""

import sys
import threading

from places import trestle_bridge

with trestle_bridge.connect(sys.argv[1]) as bridge:
    def copy(options, call):
        # A reader, as the schema says.
        return {"photo": trestle_bridge.Stream(options["photo"])}

    stream = {"type": "object", "properties": {"photo": {"type": "string", "format": "trestle-stream"}}}
    bridge.register("client.copy", copy, description=trestle_bridge.TaskDescription(options=stream, result=stream))
    print("ready", flush=True)
    threading.Event().wait()
