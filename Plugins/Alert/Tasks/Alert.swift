// Alert: its tasks.
