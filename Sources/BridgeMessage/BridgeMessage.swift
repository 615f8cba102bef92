// BridgeMessage: the messages of the bridge. Bytes in, values out, any byte split, no I/O.
