"""What was promised and is counted: totals of a run, and the promises that were broken, each with what led to it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable

LIMIT_SECONDS = 300.0
"""Of every wait for something that comes for certain. Only what hangs takes so long, on any machine."""

MOST_SHOWN = 20
"""Broken promises that are kept with all that led to them. More are counted: the first few show the cause."""


@dataclass(frozen=True)
class Broken:
    """One broken promise."""

    what: str
    who: str
    place: str
    """The round, and the daemon's life."""
    trace: tuple[str, ...] = ()
    """The client's last messages."""

    def __str__(self) -> str:
        lines = [f"BROKEN {self.place}, {self.who}: {self.what}"]
        return "\n".join(lines + [f"    {line}" for line in self.trace])


@dataclass
class Promises:
    """The counts of one run, and what was broken."""

    count: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)
    broken_count: int = 0
    place: str = "before the first round"
    began: float = field(default_factory=time.monotonic)

    def broke(self, who: str, what: str, trace: Iterable[str] = ()) -> None:
        self.broken_count += 1
        if len(self.broken) < MOST_SHOWN:
            self.broken.append(Broken(what, who, self.place, tuple(trace)))
