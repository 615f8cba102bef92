"""What a worker is made of, a plugin in a process of its own; `trestle_bridge.worker` is its face.

Modules import downwards: own_calls, calls, interceptors, declarations, running, connection.

One lock, the connection's, guards everything that several threads reach: what is queued, the calls that run, and
those that this end makes. It is never held while anything waits.
"""
