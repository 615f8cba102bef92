"""The implementation of `Plugin`: a plugin process's connection, its calls, and the threads on which its functions run.

`wire` defines the names in the protocol. Modules import downwards: wire; launch, log, own_calls; calls, aio_calls;
interceptors; declarations; running; connection; declaring; plugin.
"""
