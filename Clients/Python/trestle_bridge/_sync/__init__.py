"""The synchronous interface: a bridge for programs with or without threads.

One thread per bridge, the I/O thread, owns the core and the socket. Other threads pass commands to it, and each waits
at its own mailboxes. The Python code on a caller's thread holds no lock, so that a KeyboardInterrupt at any point
leaves the bridge usable. Only the handler threads share locks, which they hold briefly.
"""
