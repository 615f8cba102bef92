#!/usr/bin/env python3
"""A plugin whose task answers with a copy of a stream, while it reads it."""

from trestle_bridge import Plugin

plugin = Plugin()


@plugin.task("python.copy")
def copy(options, call):
    return {"photo": call.send_stream(call.read_stream(options["photo"]))}


plugin.run()
