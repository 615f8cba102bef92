// BridgeServer: the Unix socket. Listener and connections, feeding the runtime.
