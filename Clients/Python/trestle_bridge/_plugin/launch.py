"""How the daemon was launched, as a plugin sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from . import wire


@dataclass(frozen=True)
class LaunchOptions:
    """How the daemon was launched.

    Attributes:
        arguments: the daemon's command line, without its own name.
        environment: the variables of its environment that the configuration hands to plugins.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def from_json(json: Any) -> LaunchOptions:
        """Reads the member of the start's options."""
        if not isinstance(json, dict):
            return LaunchOptions()
        arguments, environment = json.get(wire.LAUNCH_ARGUMENTS), json.get(wire.LAUNCH_ENVIRONMENT)
        return LaunchOptions(
            tuple(arguments) if isinstance(arguments, list) else (),
            environment if isinstance(environment, dict) else {},
        )
