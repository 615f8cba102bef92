// Alert: the entry point of the library.
