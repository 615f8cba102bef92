import BridgeJSON

extension IncomingCall {
    /// The caller, as the daemon reports it, independent of what the caller sent.
    public struct Caller: Sendable, Hashable {
        /// The caller's session; 0 for the daemon or a plugin.
        public var session: SessionID
        /// The caller's user id; `nil` if the daemon does not report it.
        public var uid: UInt32?
        /// The caller's group id; `nil` if the daemon does not report it.
        public var gid: UInt32?
        /// The caller's process id when it connected; the process may have ended since. `nil` if the daemon does not
        /// report it.
        public var pid: Int32?
        /// The origin that the session represents; `local` unless it named another one.
        public var origin: String
        /// The logged-in user; `nil` for none.
        public var user: String?
        /// The name that the client gave itself. Not trustworthy: do not base decisions on it. `nil` if the daemon does
        /// not report it.
        public var client: String?
        /// Whether the caller is a local session of root or of the daemon's own user, or the daemon itself.
        public var isTrusted: Bool

        init(_ json: JSON?) {
            session = SessionID(json?["session"]) ?? 0
            uid = json?["uid"]?.int64Value.flatMap { UInt32(exactly: $0) }
            gid = json?["gid"]?.int64Value.flatMap { UInt32(exactly: $0) }
            pid = json?["pid"]?.int64Value.flatMap { Int32(exactly: $0) }
            origin = json?["origin"]?.stringValue ?? "local"
            user = json?["user"]?.stringValue
            client = json?["client"]?.stringValue
            isTrusted = json?["trusted"]?.boolValue ?? false
        }
    }
}
