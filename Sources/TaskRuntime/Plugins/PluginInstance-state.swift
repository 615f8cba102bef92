extension PluginInstance {
    /// What a plugin is doing.
    public enum State: String, Sendable {
        /// Its library is there, its work has not begun.
        case loaded
        /// It takes calls.
        case running
        /// Its process has ended, and another one is being started: calls wait.
        case restarting
        /// Its processes have ended too often: calls are refused.
        case unavailable
        /// It finishes.
        case stopping
        /// It no longer takes calls.
        case stopped
    }

    /// Why calls wait that could be worked on otherwise.
    public struct PauseReasons: OptionSet, Sendable {
        /// A bit for each.
        public let rawValue: UInt8

        /// Reasons by their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// There is no process to hand them to.
        public static let noProcess = PauseReasons(rawValue: 1)
        /// Its process does not read what it is sent.
        public static let unread = PauseReasons(rawValue: 2)
        /// What it knows of sessions is on its way to the plugin that takes its place.
        public static let handover = PauseReasons(rawValue: 4)
        /// It has not heard of all sessions yet.
        static let news = PauseReasons(rawValue: 8)
    }
}
