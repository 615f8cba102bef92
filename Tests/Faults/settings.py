"""The number of repetitions, and the seed of random choices; environment variables change them."""

from __future__ import annotations

import os
import time

# The same seed makes the same choices, but not at the same moments, which depend on the machine.
SEED = int(os.environ.get("FAULTS_SEED", time.time_ns() % 1_000_000))


def times(name: str, count: int) -> int:
    return int(os.environ.get(f"FAULTS_{name}", count))


KILLS = times("KILLS", 200)
KILLS_IN_CALL = times("KILLS_IN_CALL", 40)
ROUNDS = times("ROUNDS", 10)
DAMAGES = times("DAMAGES", 60)
CUTS = times("CUTS", 1_000)
STREAMS = times("STREAMS", 1_000_000)
FETCHES = times("FETCHES", 1_800)
INSTALL_KILLS = times("INSTALL_KILLS", 40)
PLUGIN_CUTS = times("PLUGIN_CUTS", 50)
