#!/usr/bin/env python3
"""bench.py [--rounds 3] [--calls 2000] [--only PART] [--check]: the costs of pages in trestle-web and in WebKitGTK.

Each round starts all programs in turn, so that their figures are comparable on any machine. Calls are in microseconds;
sequential ones are means of 200. --check compares the figures with the limits: the status is 1 if one is exceeded.
"""

import argparse
import sys
from statistics import median

from calls import Calls
from figures import Figures, Limit, check
from loads import Loads
from memories import Memories
from rig import Rig
from turns import Turns

PLAIN = "bare: message with reply"
SCRIPTS = "porter and shim without a daemon"
OWN = "trestle-web: WebBridge.call"
LIMITS = [
    Limit(f"{SCRIPTS}: WebBridge.call, one after the other", "1.1 times the same by a bare message",
          of=f"{SCRIPTS}: call by a message, one after the other", times=1.1),
    Limit(f"{OWN}, one after the other", "a bare message and 150 µs", of=f"{PLAIN}, one after the other", plus=150),
    Limit(f"{OWN}, one after the other", "a bare fetch", of="bare: fetch of a scheme, one after the other"),
    Limit(f"{OWN}, 100 kB", "3 times a bare message", of=f"{PLAIN}, 100 kB", times=3),
    Limit("trestle-web: processor of the daemon per call, µs", "1.25 times a client that shows a page",
          of="bare, with a client: processor of the daemon per call, µs", times=1.25),
    Limit("trestle-web: load of a package in a warm view, ms", "a bare view and 15 ms",
          of="bare: load in a warm view, ms", plus=15),
    Limit("trestle-web: load of a package in a cold view, ms", "1.1 times a bare view",
          of="bare: load in a cold view, ms", times=1.1),
    Limit("trestle-web: processors for a reload of a page with the bridge, ms", "fixed",
          less="trestle-web: processors for a reload of a page without it, ms", plus=1, statistic=median),
    Limit("trestle-web: crash to the reloaded page, ms", "fixed", plus=400),
    Limit("trestle-web: program without views, MiB", "a bare program and 16 MiB",
          of="bare: program without views, MiB", plus=16, statistic=median),
    Limit("trestle-web: each view, MiB", "a bare view and 2 MiB", of="bare: each view, MiB", plus=2,
          statistic=median),
    Limit("trestle-web: long turns of the main loop while 2 pages call", "fixed"),
    Limit("trestle-web: long turns of the main loop in 20 reloads", "fixed"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--only", choices=["calls", "loads", "memories", "turns"], help="measure this part alone")
    parser.add_argument("--check", action="store_true", help="compare with the limits")
    options = parser.parse_args()
    figures = Figures()
    with Rig() as rig:
        parts = {"calls": Calls(rig, figures, options.calls), "loads": Loads(rig, figures),
                 "memories": Memories(rig, figures), "turns": Turns(rig, figures)}
        chosen = [part for name, part in parts.items() if options.only in (None, name)]
        for _ in range(options.rounds):
            for part in chosen:
                part.round()
        notes = [note for part in chosen for note in part.notes]
    print(figures.table())
    for note in notes:
        print(note)
    if options.check:
        text, is_passed = check(figures, LIMITS)
        print(f"\n{text}")
        sys.exit(not is_passed)


main()
