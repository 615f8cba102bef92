// Login: the entry point of the library.
