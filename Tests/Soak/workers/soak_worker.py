#!/usr/bin/env python3
"""A plugin that works, and crashes on request: `soak`, `frail` and `pooled`, by its manifest."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "Clients/Python"))

from trestle_bridge import BridgeError, Plugin, aio  # noqa: E402

NAME = os.environ.get("TRESTLE_PLUGIN", "soak")
plugin = Plugin()


@plugin.task(f"{NAME}.work", summary="Works for `ms`, says so `steps` times, and answers with `value`, or fails.")
async def work(options: Any, call: aio.PluginCall) -> Any:
    steps = options.get("steps", 0)
    for step in range(steps):
        call.report_progress({"step": step})
    if "ms" in options:
        await asyncio.sleep(options["ms"] / 1000)  # The work.
    if options.get("fail"):
        raise BridgeError("soak.failed", "as asked")
    return {"value": options.get("value"), "steps": steps}


@plugin.task(f"{NAME}.wait", summary="Waits until nobody wants to know any more.")
async def wait(options: Any, call: aio.PluginCall) -> Any:
    await asyncio.Event().wait()


@plugin.task(f"{NAME}.echo", summary="Has the bridge echo its options, and answers with what it got.")
async def echo(options: Any, call: aio.PluginCall) -> Any:
    return await call.call("Echo", options)


@plugin.task(f"{NAME}.crash", summary="Ends the process, in the way of `how`.")
async def crash(options: Any, call: aio.PluginCall) -> Any:
    how = options.get("how")
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "garbage":
        os.write(int(os.environ["TRESTLE_PLUGIN_FD"]), b"\xff{]\n")
        await asyncio.Event().wait()
    os._exit(3)


plugin.run()
