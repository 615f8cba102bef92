extension PluginInstance {
    /// The state of a plugin.
    public enum State: String, Sendable {
        /// Its library is loaded, its work has not begun.
        case loaded
        /// It takes calls.
        case running
        /// Its process has ended, and another one is being started: calls wait.
        case restarting
        /// Its processes have ended too often: calls are refused.
        case unavailable
        /// It finishes its work.
        case stopping
        /// It has stopped and takes no calls.
        case stopped
    }

    /// Reasons why calls wait that could otherwise run.
    public struct PauseReasons: OptionSet, Sendable {
        /// The reasons as bits.
        public let rawValue: UInt8

        /// Creates reasons from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// There is no process for them.
        public static let noProcess = PauseReasons(rawValue: 1)
        /// Its process does not read its input.
        public static let unread = PauseReasons(rawValue: 2)
        /// Its session data are being transferred to the plugin that replaces it.
        public static let handover = PauseReasons(rawValue: 4)
        /// Not all existing sessions have been reported to it.
        static let unreportedSessions = PauseReasons(rawValue: 8)
    }
}
