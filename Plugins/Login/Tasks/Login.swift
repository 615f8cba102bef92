// Login: its tasks.
