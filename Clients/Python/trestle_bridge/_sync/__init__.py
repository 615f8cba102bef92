"""The synchronous face: a bridge for programs with threads, or without.

One thread per bridge, the I/O thread, owns the core and the socket. Every other thread hands it commands and
waits at mailboxes of its own. No lock is held by Python code of a caller's thread, so that a
KeyboardInterrupt at any place leaves the bridge usable. Only the threads of handlers share a lock, for a moment each.
"""
