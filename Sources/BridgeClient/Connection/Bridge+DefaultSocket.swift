extension Bridge {
    /// The path at which `connect` looks for the daemon if the caller names no socket.
    public static var defaultSocketPath: String { SocketLocation.current().path }
}
