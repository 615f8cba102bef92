"""Streams of bytes, as bridges and plugins have them: for threads, and for asyncio (`aio_…`).

Modules import downwards: waiting; ends, the reader and the writer, which only wait for what `_core` has them do;
sources; making; sending, for streams that stand in options or in a result. Uses `_core` alone.
"""
