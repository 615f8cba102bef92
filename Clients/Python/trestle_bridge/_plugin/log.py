"""The daemon's log, as a plugin writes to it."""

from __future__ import annotations

import logging
from typing import Callable, Literal, Protocol

Level = Literal["error", "warning", "notice", "info", "debug"]

_MAX_CHARACTERS = 16_384
"""Of one line of the log; the daemon cuts what is longer than it takes."""


class PluginLog:
    """The daemon's log: `Plugin.log`, or that of a call, whose lines show the call. Any thread, at any time; before the
    plugin runs, lines go to standard error. A line that the daemon is too slow to read is lost."""

    def __init__(self, write: Callable[[Level, str], None]) -> None:
        self._write = write

    def error(self, message: str) -> None:
        """Something failed that needs an operator."""
        self.write("error", message)

    def warning(self, message: str) -> None:
        """Something is wrong, and the plugin goes on."""
        self.write("warning", message)

    def notice(self, message: str) -> None:
        """Something normal that operators want to see."""
        self.write("notice", message)

    def info(self, message: str) -> None:
        """Something normal."""
        self.write("info", message)

    def debug(self, message: str) -> None:
        """A detail for developers."""
        self.write("debug", message)

    def write(self, level: Level, message: str) -> None:
        """Writes a line of a level that is computed."""
        text = message.encode("utf-8", "backslashreplace").decode("utf-8")
        self._write(level, text[:_MAX_CHARACTERS])


class HasLog(Protocol):
    """A plugin, or a call."""

    @property
    def log(self) -> PluginLog:
        """Its log."""


class PluginLogHandler(logging.Handler):
    """A handler of the standard library's `logging` that sends records to the daemon's log.

        logging.getLogger().addHandler(PluginLogHandler(plugin))

    A record shows its call where it has one: `logger.info("…", extra={"call": call})`. CRITICAL is `error`, levels
    between INFO and WARNING are `notice`.
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
