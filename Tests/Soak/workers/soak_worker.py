#!/usr/bin/env python3
"""A worker that is good, and crashes when it is asked to: `soak`, `frail` and `pooled`, by its manifest."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "Clients/Python"))

from trestle_bridge import BridgeError, worker  # noqa: E402
from trestle_bridge.worker import WorkerCall  # noqa: E402

NAME = os.environ.get("TRESTLE_PLUGIN", "soak")


@worker.task(f"{NAME}.work", summary="Works for `ms`, says so `steps` times, and answers with `value`, or fails.")
async def work(options: Any, call: WorkerCall) -> Any:
    steps = options.get("steps", 0)
    for step in range(steps):
        call.progress({"step": step})
    if "ms" in options:
        await asyncio.sleep(options["ms"] / 1000)
    if options.get("fail"):
        raise BridgeError("soak.failed", "As it was told.")
    return {"value": options.get("value"), "steps": steps}


@worker.task(f"{NAME}.wait", summary="Waits until nobody wants to know any more.")
async def wait(options: Any, call: WorkerCall) -> Any:
    await asyncio.sleep(3600)


@worker.task(f"{NAME}.echo", summary="Has the bridge echo its options, and answers with what it got.")
async def echo(options: Any, call: WorkerCall) -> Any:
    return await call.bridge_async("Echo", options)


@worker.task(f"{NAME}.crash", summary="Ends the process, in the way of `how`.")
async def crash(options: Any, call: WorkerCall) -> Any:
    how = options.get("how")
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "garbage":
        os.write(int(os.environ["TRESTLE_PLUGIN_FD"]), b"\xff{]\n")
        await asyncio.sleep(3600)
    os._exit(3)


worker.run()
