"""Calls of pages: in trestle-web, in plain WebKitGTK, with the bridge's scripts without a daemon, and in Chromium."""

import time

from bare import Bare
from chromium import Chromium
from rig import processor_time


class Calls:
    def __init__(self, rig, figures, calls):
        self.rig = rig
        self.program = None
        self.figures = figures
        self.calls = calls
        self.address = f"{rig.server.origins[0]}/bench.html?calls={calls}"
        self.notes = [] if Chromium.PROGRAM else ["Chromium is not installed: it was not measured."]

    def round(self):
        self.measure("bare", lambda: Bare(self.rig, self.address))
        self.measure("porter and shim without a daemon", lambda: Bare(self.rig, self.address, has_bridge=True))
        self.measure_processors("trestle-web", self.show_own)
        self.measure_processors("bare, with a client", lambda: Bare(self.rig, self.address, has_daemon=True))
        if Chromium.PROGRAM:
            self.measure("Chromium, by Python over its debugging pipe", lambda: Chromium(self.rig, self.address))

    def measure(self, name, start):
        """Shows the page with a program, and records the page's report."""
        begin = time.monotonic()
        program = self.program = start()
        report = self.rig.await_report(program.process)
        seconds = time.monotonic() - begin
        self.figures.add(f"{name}: start to the page's script, ms", [1000 * seconds - report.pop("spent")])
        for way, times in report.items():
            self.figures.add(f"{name}: {way}", times)
        program.end()

    def show_own(self):
        program = self.rig.show_pages("--no-tasks", self.address)
        program.end = lambda: self.rig.end(program)
        program.process = program
        return program

    def measure_processors(self, name, start):
        """Like `measure`, with the CPU time of daemon and program for sequential calls."""
        marks = []
        self.rig.server.on_mark = lambda: marks.append(
            [processor_time(self.rig.daemon.pid), processor_time(self.program.process.pid)])
        self.measure(name, start)
        self.rig.server.on_mark = lambda: None
        daemon, program = [1e6 * (after - before) / self.calls for before, after in zip(*marks)]
        self.figures.add(f"{name}: processor of the daemon per call, µs", [daemon])
        self.figures.add(f"{name}: processor of the program per call, µs", [program])
