"""The soak: various clients against a real daemon, for any time, while crashes, reloads and restarts happen.

main.py [--time 10m] [--seed N]: exits with 1 if a promise was broken, and prints the messages before it.
docs/reliability.md lists the promises and the measured results.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import report
from daemon import Daemon
from promises import Promises
from rounds import Plan, Rounds
from soak import Soak
from standin import FAULTS, StandIn

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"s": 1, "m": 60, "h": 3600}


def duration(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration such as 30s, 10m, 1h")
    return float(found[1]) * UNITS[found[2]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=duration, default=60.0, help="how long: 30s, 10m, 1h (default: 1m)")
    parser.add_argument("--seed", type=int, help="the choices of an earlier run")
    parser.add_argument("--products", type=Path, default=ROOT / ".build/release", help="where trestled and plugins are")
    parser.add_argument("--samples", type=Path, help="a file for every sample of the daemon's figures, as CSV")
    parser.add_argument("--grace", type=float, default=30.0, help="seconds that a callback may come after its deadline")
    parser.add_argument("--stand-in", choices=sorted(FAULTS), help="break this promise, to show that it is noticed")
    parser.add_argument("--every", type=int, default=10_000, help="once in so many lines (default: 10000)")
    return parser.parse_args()


async def run(settings: argparse.Namespace, folder: Path) -> bool:
    """Runs the soak; returns whether every promise was kept."""
    promises = Promises()
    seed = settings.seed if settings.seed is not None else random.SystemRandom().randrange(1 << 32)
    daemon = Daemon(settings.products.resolve(), folder, promises)
    stand_in = None
    if settings.stand_in:
        stand_in = StandIn(str(folder / "stand-in.sock"), daemon.socket, settings.stand_in, settings.every)
        await stand_in.start()
    soak = Soak(daemon, promises, seed, settings.grace, stand_in.path if stand_in else "")
    rounds = Rounds(soak, Plan(settings.time))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, rounds.stop)
    print(f"soak: seed {seed}, {settings.time:.0f} s, in {folder}", flush=True)
    progress = report.Progress(soak, rounds)
    showing = asyncio.ensure_future(show(progress))
    try:
        await rounds.run()
    finally:
        showing.cancel()
        progress.clear()
        if stand_in is not None:
            stand_in.stop()
            print(f"The stand-in broke {stand_in.done} of {stand_in.lines} lines ({settings.stand_in}).")
    if settings.samples is not None:
        report.write_samples(settings.samples, rounds)
    print(report.summary(soak, rounds))
    if promises.broken:
        print(report.broken(soak))
    return not promises.broken_count


async def show(progress: report.Progress) -> None:
    while True:
        await asyncio.sleep(0.5)  # Only the interval of the display.
        progress.show()


def main() -> None:
    settings = arguments()
    folder = Path(tempfile.mkdtemp(prefix="trestle-soak-"))
    kept = asyncio.run(run(settings, folder))
    if kept:
        shutil.rmtree(folder)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
