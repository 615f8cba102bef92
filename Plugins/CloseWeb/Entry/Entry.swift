// CloseWeb: the entry point of the library.
