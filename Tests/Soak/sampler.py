"""The daemon's use of the machine, and whether it grows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Sequence

from chaos import children

WARM_UP = 0.2
"""The part of a life that a slope leaves out: caches fill, threads start."""

FEWEST = 5
"""The minimum number of samples for a slope."""


@dataclass(frozen=True)
class Sample:
    """The figures of the daemon's process at one moment."""

    seconds: float
    """Since its start."""
    anonymous: int
    """The anonymous memory in bytes."""
    descriptors: int
    threads: int
    children: int
    at_rest: bool
    """Whether only the client that requests the status is connected."""


def take(pid: int, began: float, at_rest: bool) -> Optional[Sample]:
    """Takes a sample; returns None if the process has ended."""
    process = Path(f"/proc/{pid}")
    try:
        rollup = (process / "smaps_rollup").read_text()
        anonymous = next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Anonymous:"))
        return Sample(time.monotonic() - began, anonymous, len(list((process / "fd").iterdir())),
                      len(list((process / "task").iterdir())), len(children(pid)), at_rest)
    except (OSError, StopIteration):
        return None


def slope(points: Sequence[tuple[float, float]]) -> Optional[float]:
    """Returns the slope by least squares, per hour, of points in seconds; None if there are too few."""
    if len(points) < FEWEST:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return 3600 * sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else None


FIGURES = ("anonymous", "descriptors", "threads", "children")


@dataclass
class LifeFigures:
    """The samples of one life of the daemon."""

    number: int
    isolated: bool
    samples: list[Sample] = field(default_factory=list)
    end: str = ""

    def at_rest(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.at_rest]

    def slope(self, figure: str) -> Optional[float]:
        """Returns the growth of a figure from rest to rest, after the warm-up."""
        resting = self.at_rest()
        if not resting:
            return None
        warm = resting[-1].seconds * WARM_UP
        return slope([(sample.seconds, getattr(sample, figure)) for sample in resting if sample.seconds >= warm])

    def most(self, figure: str) -> int:
        return max((getattr(sample, figure) for sample in self.samples), default=0)
