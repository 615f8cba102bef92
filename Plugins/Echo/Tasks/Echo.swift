// Echo: its tasks.
