"""Streams of bytes for bridges and plugins: for threads, and for asyncio (`aio_…`).

Modules import downwards: waiting; ends, with the reader and the writer, which only wait as `_core` directs; sources;
making; sending, for streams in options or in a result. Imports only `_core`.
"""
