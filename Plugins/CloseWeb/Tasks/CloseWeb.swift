// CloseWeb: its tasks.
