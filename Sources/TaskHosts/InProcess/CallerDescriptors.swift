import BridgeJSON
import CTaskPlugin
import PluginInterface
import TaskRuntime

/// Who calls, in the plugin interface's form, kept from call to call: the plugin gets a pointer to a description that
/// is made when a session calls first, and again when it has changed. Loop thread only.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while
/// anything else of it is called, so that the checks, a large part of a call's cost, would find nothing.
final class CallerDescriptors {
    /// A session's description. Its three texts stand behind it in the same memory.
    private struct Entry {
        var session: UInt64
        var revision: UInt32
        var descriptor: UnsafeMutablePointer<trestle_caller>
    }

    /// A power of two. Sessions are numbered in sequence, so that this many active ones do not get into each other's
    /// way; beyond, descriptions are made more often.
    private static let slots = 64

    /// Unsafe in form only: the runtime owns the hosts, which own this.
    private unowned(unsafe) let runtime: TaskRuntime
    private let entries: UnsafeMutablePointer<Entry?>
    /// Replaced, while a function of the plugin may still be looking at them: one can lead to another within itself.
    /// A description's revision is its number among those that this plugin was given.
    private var lastRevision: UInt64 = 0
    private var retired: [UnsafeMutablePointer<trestle_caller>] = []
    @exclusivity(unchecked) private var hasRetired = false

    init(_ runtime: TaskRuntime) {
        self.runtime = runtime
        entries = .allocate(capacity: Self.slots)
        entries.initialize(repeating: nil, count: Self.slots)
    }

    deinit {
        for slot in 0..<Self.slots { if let entry = entries[slot] { ForeignCaller.free(entry.descriptor) } }
        entries.deallocate()
        freeRetired()
    }

    /// The description of who makes a call. Valid until ``freeRetired()``.
    @inline(__always)
    func descriptor(for call: Call) -> UnsafePointer<trestle_caller> {
        let (session, revision) = call.callerRevision
        let slot = Int(truncatingIfNeeded: session) & (Self.slots - 1)
        if let entry = entries[slot], entry.session == session, entry.revision == revision {
            return UnsafePointer(entry.descriptor)
        }
        return replace(slot, call.session)
    }

    /// The description of a session. Valid until ``freeRetired()``.
    func descriptor(of session: Session) -> UnsafePointer<trestle_caller> {
        let slot = Int(truncatingIfNeeded: session.number) & (Self.slots - 1)
        if let entry = entries[slot], entry.session == session.number, entry.revision == session.identityRevision {
            return UnsafePointer(entry.descriptor)
        }
        return replace(slot, session)
    }

    private func replace(_ slot: Int, _ session: Session?) -> UnsafePointer<trestle_caller> {
        if let entry = entries[slot] { retire(entry.descriptor) }
        let descriptor = make(session)
        entries[slot] = Entry(
            session: session?.number ?? 0, revision: session?.identityRevision ?? 0, descriptor: descriptor)
        return UnsafePointer(descriptor)
    }

    /// The session is gone.
    func forget(_ session: Session) {
        let slot = Int(truncatingIfNeeded: session.number) & (Self.slots - 1)
        guard let entry = entries[slot], entry.session == session.number else { return }
        entries[slot] = nil
        retire(entry.descriptor)
    }

    /// No plugin's function is on the stack: descriptions that have been replaced are no longer read.
    @inline(__always)
    func freeRetired() {
        if hasRetired { freeAllRetired() }
    }

    private func freeAllRetired() {
        hasRetired = false
        for descriptor in retired { ForeignCaller.free(descriptor) }
        retired.removeAll()
    }

    private func retire(_ descriptor: UnsafeMutablePointer<trestle_caller>) {
        retired.append(descriptor)
        hasRetired = true
    }

    private func make(_ session: Session?) -> UnsafeMutablePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.session = session?.number ?? 0
        caller.uid = session?.peer.uid ?? runtime.policy.daemonUID
        caller.gid = session?.peer.gid ?? 0
        caller.pid = session?.peer.pid ?? runtime.daemon.pid
        caller.flags = session?.isTrusted ?? true ? TRESTLE_CALLER_TRUSTED : 0
        lastRevision += 1
        caller.revision = lastRevision
        return ForeignCaller.make(
            caller, origin: session?.origin ?? Session.localOrigin, user: session?.user, client: session?.client)
    }
}
