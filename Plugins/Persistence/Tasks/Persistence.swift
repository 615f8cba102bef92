// Persistence: its tasks.
