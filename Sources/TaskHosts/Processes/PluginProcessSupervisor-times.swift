extension PluginProcessSupervisor {
    /// How long things may take.
    struct Times: Sendable {
        /// An answer to `plugin.hello`.
        var hello = Duration.seconds(10)
        /// Between pings, and for the answer to one.
        var ping = Duration.seconds(10)
        /// Configuring and starting.
        var start = Duration.seconds(60)
    }
}
