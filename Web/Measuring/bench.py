#!/usr/bin/env python3
"""bench.py [--rounds 3] [--calls 2000]: what calls of a page cost, beside WebKitGTK alone.

Both programs are started in turn in each round, so that their figures compare on any machine. Times are microseconds;
those of calls one after the other are means of 50.
"""

import argparse
import shlex
import statistics
import subprocess
import time

from rig import HERE, LIMIT, Rig, memory, web_processes


def compile_bare(folder):
    """The program that shows pages in WebKitGTK alone."""
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "webkitgtk-6.0"], check=True, capture_output=True, text=True).stdout
    program = f"{folder}/bare"
    subprocess.run(["cc", "-O2", "-o", program, f"{HERE}/bare.c", *shlex.split(flags)], check=True)
    return program


class Bench:
    def __init__(self, rig, calls):
        self.rig = rig
        self.address = f"{rig.server.origins[0]}/bench.html?calls={calls}"
        self.bare = compile_bare(rig.folder)
        self.figures = {}

    def round(self):
        for name, start in [("bare", lambda: self.rig.show(self.bare, self.address)),
                            ("trestle-web", lambda: self.rig.show_pages("--no-tasks", self.address))]:
            begin = time.monotonic()
            program = start()
            report = self.rig.server.reports.get(timeout=LIMIT)
            seconds = time.monotonic() - begin
            self.add(f"{name}: start to the page's script, ms", [1000 * seconds - report.pop("spent")])
            self.add(f"{name}: load of the page, ms", [report.pop("load")])
            for way, times in report.items():
                self.add(f"{name}: {way}", times)
            self.add(f"{name}: memory of the program, MiB", [memory(program.pid)])
            self.add(f"{name}: memory of its web processes, MiB", [sum(memory(p) for p in web_processes(program.pid))])
            self.rig.children.remove(program)
            program.terminate()
            program.wait()

    def add(self, name, values):
        self.figures.setdefault(name, []).extend(values)

    def show(self):
        print("| what | smallest | median | p99 |\n| --- | --- | --- | --- |")
        for name, values in sorted(self.figures.items()):
            ordered = sorted(values)
            p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
            print(f"| {name} | {ordered[0]:.1f} | {statistics.median(ordered):.1f} | {p99:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    with Rig() as rig:
        bench = Bench(rig, options.calls)
        for _ in range(options.rounds):
            bench.round()
    bench.show()


main()
