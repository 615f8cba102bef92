import BridgeJSON
import CTaskPlugin
import PluginInterface
import TaskRuntime

/// Who calls a plugin in the daemon's process: sessions, by the revision of their identity. Loop thread only.
final class CallerDescriptors {
    /// Unsafe in form only: the runtime owns the hosts, which own this.
    private unowned(unsafe) let runtime: TaskRuntime
    private let callers = ForeignCallers<UInt32>()

    init(_ runtime: TaskRuntime) { self.runtime = runtime }

    /// The description of who makes a call, by ``Call/callerRevision``. Valid until ``freeRetired()``.
    @inline(__always)
    func descriptor(
        for call: Call, _ session: UInt64, _ revision: UInt32
    ) -> UnsafePointer<trestle_caller> {
        callers.descriptor(of: session, revision) ?? make(call.session)
    }

    /// The description of a session. Valid until ``freeRetired()``.
    func descriptor(of session: Session) -> UnsafePointer<trestle_caller> {
        callers.descriptor(of: session.number, session.identityRevision) ?? make(session)
    }

    /// The session is gone.
    func forget(_ session: Session) { callers.forget(session.number) }

    /// No plugin's function is on the stack.
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
