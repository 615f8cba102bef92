"""The daemon's launch options, as plugins get them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from . import wire


@dataclass(frozen=True)
class LaunchOptions:
    """The command line and the environment of the daemon.

    Attributes:
        arguments: the daemon's command line, without the program name.
        environment: the daemon's environment variables that its configuration passes to plugins.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def from_json(json: Any) -> LaunchOptions:
        """Reads the launch options from the options of `plugin.start`."""
        if not isinstance(json, dict):
            return LaunchOptions()
        arguments, environment = json.get(wire.LAUNCH_ARGUMENTS), json.get(wire.LAUNCH_ENVIRONMENT)
        return LaunchOptions(
            tuple(arguments) if isinstance(arguments, list) else (),
            environment if isinstance(environment, dict) else {},
        )
