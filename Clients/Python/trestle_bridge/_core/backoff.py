"""The pauses between attempts to connect."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Backoff:
    """Growing, jittered pauses between attempts to connect.

    The pause before attempt n, counted from 0, is `first * factor ** n` seconds, at most `max_pause`, times a random
    number between 0.5 and 1. The jitter prevents that many clients connect to a restarted daemon at the same moment.

    Attributes:
        first: the pause before the first attempt, in seconds, at least 0.
        factor: the factor between successive pauses, at least 1.
        max_pause: the maximum of a pause, in seconds.
        random: returns numbers from 0 to 1; for tests.
    """

    first: float = 0.1
    factor: float = 2.0
    max_pause: float = 15.0
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if not (self.first >= 0 and self.factor >= 1 and self.max_pause >= self.first):
            raise ValueError("a back-off needs first >= 0, factor >= 1 and max_pause >= first")

    def pause(self, attempt: int) -> float:
        """Returns the number of seconds to wait before an attempt. Attempts are counted from 0."""
        # The exponent is bounded, because a larger power could overflow.
        whole = min(self.max_pause, self.first * self.factor ** min(attempt, 64))
        return whole * (0.5 + self.random() / 2)
