import BridgeJSON

extension Bridge {
    /// What a program says of itself to every daemon that it connects to, and how its bridge works.
    public struct Configuration: Sendable, Hashable {
        /// What the daemon calls this program in its lists, at most 256 bytes.
        public var client: String
        /// This program's version, at most 256 bytes.
        public var version: String?
        /// What this program speaks for, such as `https://example.org`; nil: `local`.
        public var origin: String?
        /// How to connect again when the connection is lost; nil: not at all, the bridge ends then.
        public var reconnect: Reconnection?
        /// Whether `connect` tries again, after pauses that grow, where no daemon answers or it is busy: until one
        /// takes the program, or the Swift task is cancelled.
        public var waitForDaemon: Bool
        /// How much the bridge keeps.
        public var limits: Limits

        /// A configuration; see the properties.
        ///
        /// - Parameters:
        ///   - client: The program's name; nil: the name of its file.
        ///   - version: The program's version.
        ///   - origin: What the program speaks for.
        ///   - reconnect: How to connect again; nil: not at all.
        ///   - waitForDaemon: Whether `connect` waits for a daemon.
        ///   - limits: How much the bridge keeps.
        public init(
            client: String? = nil, version: String? = nil, origin: String? = nil,
            reconnect: Reconnection? = Reconnection(), waitForDaemon: Bool = false, limits: Limits = Limits()
        ) {
            self.client = client ?? Self.programName
            self.version = version
            self.origin = origin
            self.reconnect = reconnect
            self.waitForDaemon = waitForDaemon
            self.limits = limits
        }

        /// A file's name is any bytes, and the daemon takes text of a bounded length.
        private static var programName: String {
            let path = CommandLine.arguments.first ?? ""
            return (path.split(separator: "/").last.map(String.init) ?? "swift").cut(toBytes: 250)
        }
    }

    /// Bounds, each with a default that suits most programs. How much may wait for a connection is bounded by
    /// `Reconnection`.
    public struct Limits: Sendable, Hashable {
        /// Bytes of messages that the daemon has not read yet; beyond, calls wait for room, and progress is not taken.
        public var maximumQueuedBytes: Int
        /// The longest line that is taken from the daemon. What the daemon sends is bounded by its own configuration;
        /// this only keeps a peer that is no daemon from filling the memory.
        public var maximumLineBytes: Int
        /// Events that wait for a slow reader; beyond, the oldest are dropped, and the reader is informed.
        public var maximumQueuedEvents: Int
        /// Intermediate results of one call that are not taken; beyond this number, the oldest are dropped.
        public var maximumQueuedProgress: Int
        /// Calls of provided tasks that run in parallel; one more is answered `busy`. Each is a Swift task with its
        /// options in memory.
        public var maximumRunningCalls: Int

        /// The defaults, unless others are given.
        public init(
            maximumQueuedBytes: Int = 4 << 20, maximumLineBytes: Int = 256 << 20, maximumQueuedEvents: Int = 1_024,
            maximumQueuedProgress: Int = 256, maximumRunningCalls: Int = 1_024
        ) {
            self.maximumQueuedBytes = maximumQueuedBytes
            self.maximumLineBytes = maximumLineBytes
            self.maximumQueuedEvents = max(maximumQueuedEvents, 1)
            self.maximumQueuedProgress = max(maximumQueuedProgress, 1)
            self.maximumRunningCalls = maximumRunningCalls
        }
    }
}
