"""What the daemon shows of a task that a client provides, and what it checks options by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Union

Schema = Union[bool, Mapping[str, Any]]
"""A JSON Schema."""


@dataclass(frozen=True)
class TaskDescription:
    """What is known of a task. The daemon refuses options that do not fit, before the provider gets the call.

    Attributes:
        summary: one line for a person.
        options: a JSON Schema of the options; None: any.
        result: a JSON Schema of the result, for readers.
        progress: a JSON Schema of an intermediate result, for readers.
    """

    summary: Optional[str] = None
    options: Optional[Schema] = None
    result: Optional[Schema] = None
    progress: Optional[Schema] = None

    def to_json(self) -> dict[str, Any]:
        """As the daemon takes it; what is None is left out."""
        members = {"summary": self.summary, "options": self.options, "result": self.result, "progress": self.progress}
        return {name: value for name, value in members.items() if value is not None}
