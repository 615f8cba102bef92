"""The counts of a run, and the broken promises, each with the messages before it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable

LIMIT_SECONDS = 300.0
"""The limit of every wait for an event that must happen. Only a hanging program takes so long, on any machine."""

MOST_SHOWN = 20
"""The maximum of broken promises that are kept with their messages. Further ones are only counted: the first few show
the cause."""


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
    """The counts of one run, and the broken promises."""

    count: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)
    broken_count: int = 0
    place: str = "before the first round"
    began: float = field(default_factory=time.monotonic)

    def broke(self, who: str, what: str, trace: Iterable[str] = ()) -> None:
        self.broken_count += 1
        if len(self.broken) < MOST_SHOWN:
            self.broken.append(Broken(what, who, self.place, tuple(trace)))
