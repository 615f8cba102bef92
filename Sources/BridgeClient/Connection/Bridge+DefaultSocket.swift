extension Bridge {
    /// Where `connect` looks for the daemon where no socket is named.
    public static var defaultSocketPath: String { SocketLocation.current().path }
}
