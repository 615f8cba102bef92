"""The daemon's log, for plugins."""

from __future__ import annotations

import logging
from typing import Callable, Literal, Protocol

Level = Literal["error", "warning", "notice", "info", "debug"]

_MAX_CHARACTERS = 16_384
"""The maximum number of characters in one line. The daemon truncates lines that are too long for it."""


class PluginLog:
    """The daemon's log: `Plugin.log`, or the log of a call, whose lines show the call. Any thread, at any time. Before
    the plugin runs, lines are written to standard error. If the daemon reads too slowly, lines are dropped."""

    def __init__(self, write: Callable[[Level, str], None]) -> None:
        self._write = write

    def error(self, message: str) -> None:
        """Logs a failure that needs an operator."""
        self.write("error", message)

    def warning(self, message: str) -> None:
        """Logs a problem after which the plugin continues."""
        self.write("warning", message)

    def notice(self, message: str) -> None:
        """Logs a normal event that is relevant to operators."""
        self.write("notice", message)

    def info(self, message: str) -> None:
        """Logs a normal event."""
        self.write("info", message)

    def debug(self, message: str) -> None:
        """Logs a detail for developers."""
        self.write("debug", message)

    def write(self, level: Level, message: str) -> None:
        """Writes a line of the given level."""
        text = message.encode("utf-8", "backslashreplace").decode("utf-8")
        self._write(level, text[:_MAX_CHARACTERS])


class HasLog(Protocol):
    """A plugin, or a call."""

    @property
    def log(self) -> PluginLog:
        """The log of the plugin or call."""


class PluginLogHandler(logging.Handler):
    """A handler of the standard library's `logging` that sends records to the daemon's log.

        logging.getLogger().addHandler(PluginLogHandler(plugin))

    A record shows a call if it has one: `logger.info("…", extra={"call": call})`. CRITICAL becomes `error`. Levels
    between INFO and WARNING become `notice`.
    """

    def __init__(self, plugin: HasLog, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._plugin = plugin

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a record. Never waits."""
        try:
            source: HasLog = getattr(record, "call", None) or self._plugin
            source.log.write(_level(record.levelno), self.format(record))
        except Exception:
            self.handleError(record)


def _level(number: int) -> Level:
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warning"
    if number > logging.INFO:
        return "notice"
    return "info" if number == logging.INFO else "debug"
