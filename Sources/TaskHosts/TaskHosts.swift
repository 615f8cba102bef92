// TaskHosts: where tasks run. Today in this process, loaded from a shared library.
