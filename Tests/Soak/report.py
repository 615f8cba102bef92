"""The output of a run: a line now and then, and all results at the end."""

from __future__ import annotations

import csv
import dataclasses
import sys
import time
from pathlib import Path
from typing import Optional, TextIO

from rounds import Rounds
from sampler import FIGURES, LifeFigures
from soak import Soak

PIPE_SECONDS = 15.0
"""The time between two lines if the output is not a terminal."""


def clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(seconds))


def mebibytes(size: float) -> str:
    return f"{size / (1 << 20):.1f} MiB"


class Progress:
    """One line that is overwritten, on a terminal; in a pipe a new line every few seconds."""

    def __init__(self, soak: Soak, rounds: Rounds, output: TextIO = sys.stdout) -> None:
        self.soak = soak
        self.rounds = rounds
        self.output = output
        self.is_terminal = output.isatty()
        self._shown = 0.0

    def show(self) -> None:
        now = time.monotonic()
        if now - self._shown < (0.5 if self.is_terminal else PIPE_SECONDS):
            return
        self._shown = now
        start, end = ("\r\033[K", "") if self.is_terminal else ("", "\n")
        self.output.write(start + self.line() + end)
        self.output.flush()

    def line(self) -> str:
        calls, callbacks = self.soak.totals()
        count = self.soak.promises.count
        samples = self.rounds.lives[-1].samples if self.rounds.lives else []
        now = ""
        if samples:
            last = samples[-1]
            now = (f", {mebibytes(last.anonymous)}, {last.descriptors} descriptors, {last.threads} threads, "
                   f"{last.children} children")
        return (f"{clock(self.rounds.elapsed)} {self.soak.promises.place}: {calls:,} calls, {callbacks:,} callbacks, "
                f"{self.soak.promises.broken_count} broken, {count['crashes'] + count['workers killed']} crashes{now}")

    def clear(self) -> None:
        if self.is_terminal:
            self.output.write("\r\033[K")


def summary(soak: Soak, rounds: Rounds) -> str:
    count = soak.promises.count
    owed = {name: number for name, number in count.items() if name.startswith("owed at the end") and number}
    lines = [
        f"seed {soak.seed}, {clock(rounds.elapsed)}, {soak.round} rounds, {soak.daemon.lives} lives of the daemon",
        "",
        f"calls                   {count['calls']:>12,}",
        f"callbacks               {count['callbacks']:>12,}",
    ]
    lines += [f"  {name:<22}{number:>12,}" for name, number in sorted(owed.items())]
    missing = count["calls"] - count["callbacks"] - sum(owed.values())
    lines += [f"  neither               {missing:>12,}", ""]
    others = sorted(name for name in count if name not in ("calls", "callbacks") and not name.startswith("owed"))
    lines += [f"{name:<32}{count[name]:>12,}" for name in others]
    lines += ["", *life_table(rounds.lives), "", f"{soak.promises.broken_count} promises were broken."]
    return "\n".join(lines)


def life_table(lives: list[LifeFigures]) -> list[str]:
    """Returns a row for each life of the daemon, in Markdown."""
    rows = ["| life | plugins | seconds | end | memory at rest: first, last, slope | most memory | descriptors, slope "
            "| threads, slope | children, slope |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for life in lives:
        resting = life.at_rest()
        if not resting:
            continue
        first, last = resting[0], resting[-1]
        place = "in processes" if life.isolated else "in the daemon"
        cells = [str(life.number), place, f"{last.seconds:.0f}", life.end,
                 f"{mebibytes(first.anonymous)}, {mebibytes(last.anonymous)}, {rate(life, 'anonymous')}",
                 mebibytes(life.most("anonymous"))]
        cells += [f"{getattr(first, figure)}, {getattr(last, figure)}, {rate(life, figure)}" for figure in FIGURES[1:]]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def write_samples(path: Path, rounds: Rounds) -> None:
    """Writes every sample to a file, for diagrams."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["life", "seconds", "at rest", *FIGURES])
        for life in rounds.lives:
            for sample in life.samples:
                figures = [getattr(sample, figure) for figure in FIGURES]
                table.writerow([life.number, f"{sample.seconds:.1f}", int(sample.at_rest), *figures])


def rate(life: LifeFigures, figure: str) -> str:
    slope: Optional[float] = life.slope(figure)
    if slope is None:
        return "–"
    return f"{slope / 1024:+,.0f} KiB/h" if figure == "anonymous" else f"{slope:+.1f}/h"


def broken(soak: Soak) -> str:
    """Returns each broken promise, and the end of the daemon's log."""
    if not soak.promises.broken:
        return ""
    shown: list[str] = []
    for entry in soak.promises.broken:
        # The messages of a client are shown only once, for its first broken promise.
        again = any(line.startswith(f"BROKEN {entry.place}, {entry.who}:") for line in shown)
        shown.append(str(dataclasses.replace(entry, trace=()) if again else entry))
    more = soak.promises.broken_count - len(shown)
    if more:
        shown.append(f"and {more} more")
    return "\n".join([*shown, f"The daemon's log ends, in {soak.daemon.log}:", soak.daemon.log_tail()])
