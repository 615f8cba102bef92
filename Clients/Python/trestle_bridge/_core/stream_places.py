"""The places where a schema declares a stream, and readers at those places."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from . import wire
from .description import Schema

Path = tuple[str, ...]
"""The names of the members that lead to a value; empty for the whole value."""


def stream_places(schema: Optional[Schema]) -> list[Path]:
    """Returns the places of streams in a schema: at its root, and in `properties` at any depth."""
    if not isinstance(schema, Mapping):
        return []
    if schema.get("format") == wire.STREAM_FORMAT:
        return [()]
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    return [(name, *path) for name, member in properties.items() for path in stream_places(member)]


def with_result_readers(result: Any, schema: Optional[Schema], read: Callable[[str], Any]) -> Any:
    """Returns the result with readers at the places where its schema declares streams.

    Args:
        read: makes a reader from the name of a stream.
    """
    for path in stream_places(schema):
        result = _replaced(result, path, read)
    return result


def with_readers(handler: Any, schema: Optional[Schema], read: Callable[[str, Any], Any]) -> Any:
    """Wraps a handler: it gets readers at the places where the schema of its options declares streams. The wrapper of a
    coroutine function is a coroutine function. If the handler raises, the readers are closed.

    Args:
        handler: takes options and a call.
        read: makes a reader from the name of a stream, for a call.
    """
    places = stream_places(schema)
    if not places:
        return handler

    def opened(options: Any, call: Any, readers: list[Any]) -> Any:
        def open_reader(name: str) -> Any:
            readers.append(read(name, call))
            return readers[-1]

        for path in places:
            options = _replaced(options, path, open_reader)
        return options

    if inspect.iscoroutinefunction(handler):
        async def handle_async(options: Any, call: Any) -> Any:
            with _closed_where_it_fails() as readers:
                return await handler(opened(options, call, readers), call)

        return handle_async

    def handle(options: Any, call: Any) -> Any:
        with _closed_where_it_fails() as readers:
            return handler(opened(options, call, readers), call)

    return handle


@contextmanager
def _closed_where_it_fails() -> Iterator[list[Any]]:
    readers: list[Any] = []
    try:
        yield readers
    except BaseException:
        # The traceback would keep the readers alive.
        for reader in readers:
            reader.close()
        raise


def _replaced(value: Any, path: Sequence[str], read: Callable[[str], Any]) -> Any:
    if not path:
        return read(value) if isinstance(value, str) else value
    if not isinstance(value, dict) or path[0] not in value:
        return value
    return {**value, path[0]: _replaced(value[path[0]], path[1:], read)}
