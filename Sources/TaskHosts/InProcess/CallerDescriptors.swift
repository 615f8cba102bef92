import BridgeJSON
import CTaskPlugin
import PluginInterface
import TaskRuntime

/// The descriptions of callers for a plugin in the daemon's process, by session and identity revision. Loop thread
/// only.
final class CallerDescriptors {
    /// This `unowned(unsafe)` reference is safe: the runtime owns the hosts, which own this.
    private unowned(unsafe) let runtime: TaskRuntime
    private let callers = ForeignCallers<UInt32>()

    init(_ runtime: TaskRuntime) { self.runtime = runtime }

    /// Returns the description of a call's caller, by ``Call/callerRevision``. Valid until ``freeRetired()``.
    @inline(__always)
    func descriptor(
        for call: Call, _ session: UInt64, _ revision: UInt32
    ) -> UnsafePointer<trestle_caller> {
        callers.descriptor(of: session, revision) ?? make(call.session)
    }

    /// Returns the description of a session. Valid until ``freeRetired()``.
    func descriptor(of session: Session) -> UnsafePointer<trestle_caller> {
        callers.descriptor(of: session.number, session.identityRevision) ?? make(session)
    }

    /// Removes a session that has ended.
    func forget(_ session: Session) { callers.forget(session.number) }

    /// Frees descriptions that are no longer current. Called when no function of the plugin is on the stack.
    @inline(__always)
    func freeRetired() {
        if callers.hasRetired { callers.freeRetired() }
    }

    @inline(never)
    private func make(_ session: Session?) -> UnsafePointer<trestle_caller> {
        var caller = trestle_caller()
        caller.session = session?.number ?? 0
        caller.uid = session?.peer.uid ?? runtime.policy.daemonUID
        caller.gid = session?.peer.gid ?? 0
        caller.pid = session?.peer.pid ?? runtime.daemon.pid
        caller.flags = session?.isTrusted ?? true ? TRESTLE_CALLER_TRUSTED : 0
        return callers.make(
            caller, session?.identityRevision ?? 0, origin: session?.origin ?? Session.localOrigin,
            user: session?.user, client: session?.client)
    }
}
