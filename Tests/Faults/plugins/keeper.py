#!/usr/bin/env python3
"""A plugin in Python that writes a stream, and reads one."""

from pathlib import Path

from trestle_bridge import Plugin

plugin = Plugin()


@plugin.task("keeper.read")
def read(options, call):
    return {"file": call.send_stream(Path(__file__).with_name(options["name"]).open("rb"))}


@plugin.task("keeper.write")
def write(options, call):
    with call.read_stream(options["file"]) as file:
        return {"bytes": sum(len(chunk) for chunk in file)}


plugin.run()
