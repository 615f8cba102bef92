// Echo: the entry point of the library.
