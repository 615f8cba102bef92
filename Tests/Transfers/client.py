"""client.py SOCKET TASK SENT RECEIVED: sends one file, and receives the other."""

import shutil
import sys

from places import trestle_bridge

socket, task, sent, received = sys.argv[1:]
with trestle_bridge.connect(socket) as bridge, open(sent, "rb") as file, open(received, "wb") as output:
    result = bridge.call(task, {"photo": trestle_bridge.Stream(file)})
    with bridge.read_stream(result["photo"]) as photo:
        shutil.copyfileobj(photo, output, 1 << 18)
