"""The calls of one connection, and their callbacks: every call ends once, and every callback belongs to a call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Callable, Literal, Optional

from dialects import NATIVE, Incoming, id_in

End = Literal["lost", "drained", "finished", "closed", "left", "alone"]
"""How a connection ended. lost: the daemon was killed. drained: it was asked to stop. finished: the client had shut
down its side. closed: the client requested it by a task. left: the client closed it. alone: the daemon closed it
without a reason."""


@dataclass(eq=False)
class Call:
    """A call that a client made."""

    number: int
    task: str
    dialect: str
    deadline: float
    may: frozenset[str] = frozenset()
    """The error codes with which it may end."""
    must: frozenset[str] = frozenset()
    """If not empty: it must end with one of these codes."""
    check: Optional[Callable[[Any], bool]] = None
    """Whether a result is correct."""
    wants_progress: bool = False
    next_sequence: int = 0
    cancelled: bool = False
    waiter: Optional[asyncio.Future[Optional[Incoming]]] = None
    """A future for its end; None if the connection ended first."""


class Ledger:
    """The calls and callbacks of one client. It uses no socket, so it can be tested without one."""

    def __init__(self, broke: Callable[[str], None]) -> None:
        self.broke = broke
        self.open: dict[int, Call] = {}
        self.calls = 0
        self.callbacks = 0
        self.refusals = 0
        """Errors about messages, which end no call."""
        self.refusals_due = 0
        self.duplicated: set[int] = set()
        """Ids that were used again while their call was in flight."""
        self.last_answered = 0
        self.number = 0

    def next_number(self) -> int:
        self.number += 1
        return self.number

    def sent(self, call: Call) -> None:
        self.calls += 1
        self.open[call.number] = call

    def callback(self, message: Incoming) -> Optional[Call]:
        """Returns the call that the message ends; None if it ends none."""
        if message.id is None and message.failed:
            self.refused(message)
            return None
        call = self._find(message)
        if call is None:
            number = int(message.id) if str(message.id).isdigit() else 0
            if number in self.duplicated and message.failed and self.refusals < self.refusals_due:
                # The first call with this id had ended by then, so the second one was valid and was answered.
                self.refused(message)
                return None
            known = 0 < number <= self.number
            self.broke(f"{'a second callback for' if known else 'a callback for the unknown id'} {message.id!r}")
            return None
        del self.open[call.number]
        self.callbacks += 1
        self.last_answered = max(self.last_answered, call.number)
        return call

    def refused(self, message: Incoming) -> None:
        self.refusals += 1
        if self.refusals > self.refusals_due:
            self.broke(f"an error about a message that was good: {message.code}")

    def progress(self, message: Incoming) -> None:
        call = self._find(message)
        if call is None:
            return self.broke(f"progress for {message.id!r}, which is not in flight")
        if not call.wants_progress:
            self.broke(f"progress for {message.id!r}, which did not ask for it")
        if message.sequence is not None:
            if message.sequence < call.next_sequence:
                self.broke(f"progress {message.sequence} of {message.id!r} after {call.next_sequence - 1}")
            call.next_sequence = message.sequence + 1

    def _find(self, message: Incoming) -> Optional[Call]:
        """Finds a call by its id, which must have the form of the call's dialect."""
        try:
            call = self.open.get(int(message.id))
        except (TypeError, ValueError):
            return None
        if call is None or id_in(call.dialect, call.number) != message.id:
            return None
        spoken = NATIVE if call.dialect in ("url", "function") else call.dialect
        if spoken != message.dialect:
            self.broke(f"the callback of {message.id!r}, called in the dialect {spoken}, is in {message.dialect}")
        return call

    def overdue(self, now: float, grace: float) -> None:
        """Finds calls without a callback long after their deadline."""
        for call in [call for call in self.open.values() if now > call.deadline + grace]:
            self.broke(f"no callback for {call.number} ({call.task}), {now - call.deadline:.1f} s after its deadline")
            self.give_up(call)

    def ended(self, end: End, prompt: bool = True) -> int:
        """Handles the end of the connection: returns the number of missing callbacks, and reports those that were due.

        A daemon that stops answers every call that it has read. The calls that it has not read are the last ones sent,
        so no later call has an answer. This holds for a client that reads promptly; for others, answers may be cut off.
        """
        owed = list(self.open.values())
        if end in ("finished", "alone") and owed:
            self.broke(f"the connection ended ({end}) and {len(owed)} calls had no callback, first {owed[0].number} "
                       f"({owed[0].task})")
        elif end == "alone":
            self.broke("the daemon closed the connection of a client that did nothing wrong")
        elif end in ("drained", "closed") and prompt:
            for call in [call for call in owed if call.number < self.last_answered]:
                self.broke(f"no callback for {call.number} ({call.task}), though {self.last_answered}, sent after it, "
                           f"had one before the connection ended ({end})")
        if end in ("finished",) and self.refusals != self.refusals_due:
            self.broke(f"{self.refusals_due} bad messages were sent, and {self.refusals} were refused")
        for call in owed:
            self.give_up(call)
        return len(owed)

    def give_up(self, call: Call) -> None:
        self.open.pop(call.number, None)
        if call.waiter is not None and not call.waiter.done():
            call.waiter.set_result(None)
