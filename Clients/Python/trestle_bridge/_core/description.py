"""The description of a task that a client provides. The daemon shows it, and checks options with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Union

Schema = Union[bool, Mapping[str, Any]]
"""A JSON Schema."""


@dataclass(frozen=True)
class TaskDescription:
    """The description of a task. The daemon refuses options that do not match it before the provider gets the call.

    Attributes:
        summary: one line for a person.
        options: the JSON Schema of the options; None for any options.
        result: the JSON Schema of the result, for readers.
        progress: the JSON Schema of an intermediate result, for readers.
    """

    summary: Optional[str] = None
    options: Optional[Schema] = None
    result: Optional[Schema] = None
    progress: Optional[Schema] = None

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON form of the protocol, without the members that are None."""
        members = {"summary": self.summary, "options": self.options, "result": self.result, "progress": self.progress}
        return {name: value for name, value in members.items() if value is not None}
