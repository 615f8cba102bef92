import BridgeJSON

extension Bridge {
    /// A program's description of itself, sent to every daemon that it connects to, and the settings of its bridge.
    public struct Configuration: Sendable, Hashable {
        /// The name that the daemon shows for this program in its lists, at most 256 bytes.
        public var client: String
        /// This program's version, at most 256 bytes; `nil` for none.
        public var version: String?
        /// The origin that this program represents, such as `https://example.org`; `nil` for `local`.
        public var origin: String?
        /// How to reconnect when the connection is lost; if `nil`, the bridge ends then.
        public var reconnect: Reconnection?
        /// Whether `connect` retries, after growing pauses, if no daemon answers or the daemon is busy: until a daemon
        /// accepts the program, or the Swift task is cancelled.
        public var waitForDaemon: Bool
        /// The limits of the bridge's queues.
        public var limits: Limits

        /// Creates a configuration; see the properties.
        ///
        /// - Parameters:
        ///   - client: The program's name; if `nil`, the name of its executable file.
        ///   - version: The program's version; `nil` for none.
        ///   - origin: The origin that the program represents; `nil` for `local`.
        ///   - reconnect: How to reconnect; `nil` for not at all.
        ///   - waitForDaemon: Whether `connect` waits for a daemon.
        ///   - limits: The limits of the bridge's queues.
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

        /// A file name may have any bytes and length; the daemon requires text of a bounded length.
        private static var programName: String {
            let path = CommandLine.arguments.first ?? ""
            return (path.split(separator: "/").last.map(String.init) ?? "swift").cut(toBytes: 250)
        }
    }

    /// The limits of a bridge's queues. The defaults suit most programs. `Reconnection` limits how much may wait for a
    /// connection.
    public struct Limits: Sendable, Hashable {
        /// The number of message bytes that the daemon has not read yet. Beyond it, calls wait for room, and progress
        /// is refused.
        public var maximumQueuedBytes: Int
        /// The maximum length of a line from the daemon. The daemon's own configuration limits what it sends; this only
        /// prevents another program at the socket from filling the memory.
        public var maximumLineBytes: Int
        /// The number of events that may wait for a slow reader. Beyond it, the oldest are dropped, and the reader is
        /// informed.
        public var maximumQueuedEvents: Int
        /// The number of intermediate results of one call that may wait for the reader. Beyond it, the oldest are
        /// dropped.
        public var maximumQueuedProgress: Int
        /// The number of calls of provided tasks that may run in parallel; the next one is answered with `busy`. Each
        /// call is a Swift task with its options in memory.
        public var maximumRunningCalls: Int

        /// Creates limits; each parameter has a default.
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
