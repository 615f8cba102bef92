import BridgeJSON
internal import CTaskPlugin

/// Who makes a call, or whose session a hook is about. Cheap to copy and to keep.
public struct Caller: Sendable, Hashable {
    /// The session; 0: the daemon itself.
    public var session: SessionID { identity.session }
    /// The peer's user id, as the kernel reports it.
    public var uid: UInt32 { identity.uid }
    /// The peer's group id, as the kernel reports it.
    public var gid: UInt32 { identity.gid }
    /// The peer's process id when it connected; the process may have ended since.
    public var pid: Int32 { identity.pid }
    /// What the session speaks for, such as `https://example.org`; `local` unless it named another.
    public var origin: String { identity.origin }
    /// The logged-in user; nil: none.
    public var user: String? { identity.user }
    /// The name that the client gave itself in `bridge.hello`; nil: none.
    public var client: String? { identity.client }
    /// The caller is a local session of root or of the daemon's own user, or the daemon itself.
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

        // By bytes: two names that look the same may be two users.
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

    /// What a caller points to, so that handing one on costs a reference count and no strings.
    private final class Storage: Sendable {
        let identity: Identity

        init(_ identity: Identity) {
            self.identity = identity
        }
    }

    private let storage: Storage
    private var identity: Identity { storage.identity }

    /// A caller as a test wants it; those of real calls come from the daemon.
    public init(
        session: SessionID, uid: UInt32, gid: UInt32, pid: Int32, origin: String = "local", user: String? = nil,
        client: String? = nil, isTrusted: Bool = false
    ) {
        storage = Storage(
            Identity(
                session: session, uid: uid, gid: gid, pid: pid, origin: origin, user: user, client: client,
                isTrusted: isTrusted))
    }

    /// Whether everything known of the two is the same.
    public static func == (left: Caller, right: Caller) -> Bool {
        left.storage === right.storage || left.identity == right.identity
    }

    /// Takes in everything that is known of the caller.
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

/// The callers of late, so that a session's next call finds its `Caller` made already. Loop thread only.
struct CallerCache {
    /// A power of two; sessions are numbered in sequence, so this many active ones do not collide.
    private static let slots = 64

    private struct Entry {
        /// The daemon's number for this state of this caller; 0: no caller yet.
        var revision: UInt64 = 0
        var caller: Caller?
    }

    /// Never freed, as its owner, the plugin's runtime, is not.
    private let entries: UnsafeMutablePointer<Entry>

    init() {
        entries = .allocate(capacity: Self.slots)
        entries.initialize(repeating: Entry(), count: Self.slots)
    }

    /// The caller that the daemon describes. Allocates only where it is another than the last one of the same slot.
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
