"""How long to wait before connecting again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Backoff:
    """Growing, jittered pauses between attempts to connect.

    The n-th attempt waits for `first * factor ** n` seconds, at most `max_pause`, times a random number between
    a half and one, so that many clients of a daemon that comes back do not come together.

    Attributes:
        first: seconds before the first attempt, 0 or more.
        factor: by which each pause is longer than the one before, at least 1.
        max_pause: seconds that a pause never exceeds.
        random: answers numbers from 0 to 1; for tests.
    """

    first: float = 0.1
    factor: float = 2.0
    max_pause: float = 15.0
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if not (self.first >= 0 and self.factor >= 1 and self.max_pause >= self.first):
            raise ValueError("a back-off needs first >= 0, factor >= 1 and max_pause >= first")

    def pause(self, attempt: int) -> float:
        """Seconds to wait before an attempt, counted from 0."""
        # Beyond so many doublings only the bound matters, and the power would overflow.
        whole = min(self.max_pause, self.first * self.factor ** min(attempt, 64))
        return whole * (0.5 + self.random() / 2)
