// TaskKitTesting: a plugin in a test.
