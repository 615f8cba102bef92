// BridgeClient: the bridge from the other end, for Swift programs.
