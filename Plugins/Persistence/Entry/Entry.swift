// Persistence: the entry point of the library.
