"""Streams of bytes, as bridges and plugins have them: for threads, and for asyncio (`aio_…`).

`ends` has the reader and the writer, `making` what makes them. Uses `_core` alone.
"""
