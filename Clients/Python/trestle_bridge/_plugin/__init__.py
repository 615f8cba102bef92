"""The inside of `Plugin`: a plugin process's connection, its calls, and the threads on which its functions run.

`wire` has the names that go over the wire. Modules import downwards: wire; launch, log, own_calls; calls, aio_calls;
interceptors; declarations; running; connection; declaring; plugin.
"""
