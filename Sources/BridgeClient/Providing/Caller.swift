import BridgeJSON

extension IncomingCall {
    /// Who calls. The daemon says so, whatever the caller sent.
    public struct Caller: Sendable, Hashable {
        /// The caller's session; 0: the daemon or a plugin.
        public var session: SessionID
        /// The caller's user id; nil where the daemon does not say.
        public var uid: UInt32?
        /// The caller's group id; like `pid` and `client` nil where the daemon does not say.
        public var gid: UInt32?
        /// The caller's process id when it connected; the process may have ended since.
        public var pid: Int32?
        /// What the session speaks for; `local` unless it named something else.
        public var origin: String
        /// The logged-in user; nil: none.
        public var user: String?
        /// The name that the client gave itself. Nothing may be decided by it.
        public var client: String?
        /// The caller is a local session of root or of the daemon's own user, or the daemon itself.
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
