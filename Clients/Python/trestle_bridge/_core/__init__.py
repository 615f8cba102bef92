"""The protocol without input and output, shared by the synchronous and the asyncio interface of the library.

Nothing in this package blocks, sleeps or starts a thread. Each object belongs to one thread at a time: to the I/O
thread of the synchronous interface, or to the thread of the event loop. Only `driver` uses a socket, and only `pipes`
uses pipes; neither waits.

Modules import downwards: errors, wire, jsontext, framing, output, pipes, timers, backoff, location, settings,
connecting; then messages, waiting; then description, incoming; then backlog, call, calls, providing, events; then
requests, attempts, state; then core; then driver; then retry, stream_values, streaming, pipe_reading, pipe_writing,
stream_reading, stream_writing, outgoing, stream_places.
"""
