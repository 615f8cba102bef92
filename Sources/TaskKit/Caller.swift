import BridgeJSON
internal import CTaskPlugin

/// The caller of a task, or the session that a hook reports. Cheap to copy and to store.
public struct Caller: Sendable, Hashable {
    /// The session; 0 for the daemon itself, and for a plugin that calls in its own name.
    public var session: SessionID { identity.session }
    /// The peer's user id, as the kernel reports it.
    public var uid: UInt32 { identity.uid }
    /// The peer's group id, as the kernel reports it.
    public var gid: UInt32 { identity.gid }
    /// The peer's process id at the time of the connection; the process may have ended since.
    public var pid: Int32 { identity.pid }
    /// The origin that the session represents, such as `https://example.org`; `local` if the session specified none.
    public var origin: String { identity.origin }
    /// The logged-in user; `nil` if there is none.
    public var user: String? { identity.user }
    /// The name that the client specified in `bridge.hello`; `nil` if it specified none.
    public var client: String? { identity.client }
    /// Whether the caller is a local session of root or of the daemon's own user, the daemon itself, or a plugin.
    public var isTrusted: Bool { identity.isTrusted }

    private struct Identity: Sendable, Hashable {
        var session: SessionID
        var uid: UInt32
        var gid: UInt32
        var pid: Int32
        var origin: String
        var user: String?
        var client: String?
        var isTrusted: Bool

        // Compares bytes: two names that look the same may be two users.
        static func == (left: Identity, right: Identity) -> Bool {
            left.session == right.session && left.uid == right.uid && left.gid == right.gid && left.pid == right.pid
                && left.isTrusted == right.isTrusted && left.origin.isExactly(right.origin)
                && isSame(left.user, right.user) && isSame(left.client, right.client)
        }

        private static func isSame(_ left: String?, _ right: String?) -> Bool {
            guard let left, let right else { return left == nil && right == nil }
            return left.isExactly(right)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(session)
            hasher.combine(uid)
            hasher.combine(gid)
            hasher.combine(isTrusted)
            hasher.combine(pid)
            for text in [origin, user, client] { hasher.combine(text.map { ExactText($0) }) }
        }
    }

    /// The shared storage of a caller: passing a caller on costs a reference count and copies no strings.
    private final class Storage: Sendable {
        let identity: Identity

        init(_ identity: Identity) {
            self.identity = identity
        }
    }

    private let storage: Storage
    private var identity: Identity { storage.identity }

    /// Creates a caller for a test. The daemon provides the callers of real calls.
    public init(
        session: SessionID, uid: UInt32, gid: UInt32, pid: Int32, origin: String = "local", user: String? = nil,
        client: String? = nil, isTrusted: Bool = false
    ) {
        storage = Storage(
            Identity(
                session: session, uid: uid, gid: gid, pid: pid, origin: origin, user: user, client: client,
                isTrusted: isTrusted))
    }

    /// Whether all properties of both callers are equal.
    public static func == (left: Caller, right: Caller) -> Bool {
        left.storage === right.storage || left.identity == right.identity
    }

    /// Hashes all properties of the caller.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
    }

    init(_ caller: UnsafePointer<trestle_caller>) {
        self.init(
            session: SessionID(rawValue: caller.pointee.session), uid: caller.pointee.uid, gid: caller.pointee.gid,
            pid: caller.pointee.pid,
            origin: String(decoding: caller.pointee.origin.buffer, as: UTF8.self),
            user: caller.pointee.user.size == 0 ? nil : String(decoding: caller.pointee.user.buffer, as: UTF8.self),
            client: caller.pointee.client.size == 0
                ? nil : String(decoding: caller.pointee.client.buffer, as: UTF8.self),
            isTrusted: caller.pointee.flags & TRESTLE_CALLER_TRUSTED != 0)
    }
}

/// A cache of recent callers, so that a session's next call reuses its `Caller`. Loop thread only.
struct CallerCache {
    /// A power of two. Sessions are numbered in sequence, so this number of active sessions does not collide.
    private static let slots = 64

    private struct Entry {
        /// The daemon's number for this state of this caller; 0 if the entry is empty.
        var revision: UInt64 = 0
        var caller: Caller?
    }

    /// Never freed, because its owner, the plugin's runtime, is never freed.
    private let entries: UnsafeMutablePointer<Entry>

    init() {
        entries = .allocate(capacity: Self.slots)
        entries.initialize(repeating: Entry(), count: Self.slots)
    }

    /// Returns the caller that the daemon describes. Allocates only if it differs from the last caller of the same
    /// slot.
    @inline(__always)
    func caller(_ description: UnsafePointer<trestle_caller>) -> Caller {
        let slot = Int(truncatingIfNeeded: description.pointee.session) & (Self.slots - 1)
        let revision = description.pointee.revision
        if revision != 0, entries[slot].revision == revision, let known = entries[slot].caller { return known }
        let caller = Caller(description)
        entries[slot] = Entry(revision: revision, caller: caller)
        return caller
    }
}
