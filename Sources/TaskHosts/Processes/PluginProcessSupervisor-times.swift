extension PluginProcessSupervisor {
    /// The time limits for a process.
    struct Times: Sendable {
        /// The time limit for the answer to `plugin.hello`.
        var hello = Duration.seconds(10)
        /// The time between pings, and the time limit for the answer to a ping.
        var ping = Duration.seconds(10)
        /// The time limit for each of configuration, start and launch worker.
        var start = Duration.seconds(60)
    }
}
