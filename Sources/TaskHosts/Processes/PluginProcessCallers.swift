import BridgeJSON
import PluginInterface
import TaskRuntime

/// Who calls, as it is sent to a plugin process, kept from call to call. Loop thread only.
final class PluginProcessCallers {
    /// Unsafe in form only: the runtime owns the hosts, which own this.
    private unowned(unsafe) let runtime: TaskRuntime
    private let texts = CallerCache<UInt32, [UInt8]>()

    init(_ runtime: TaskRuntime) { self.runtime = runtime }

    /// The description of a call's caller, borrowed.
    func withCaller(of call: Call, _ body: (UnsafeRawBufferPointer) -> Void) {
        let (session, revision) = call.callerRevision
        if let known = texts.value(of: session, revision) { return known.withUnsafeBytes(body) }
        let text = json(of: call.session).bytes
        _ = texts.keep(text, of: session, revision)
        text.withUnsafeBytes(body)
    }

    /// The description of a session; nil: the daemon itself.
    func json(of session: Session?) -> JSON {
        [
            "session": .number(JSONNumber(session?.number ?? 0)),
            "uid": .number(JSONNumber(UInt64(session?.peer.uid ?? runtime.policy.daemonUID))),
            "gid": .number(JSONNumber(UInt64(session?.peer.gid ?? 0))),
            "pid": .number(JSONNumber(Int(session?.peer.pid ?? runtime.daemon.pid))),
            "origin": .string(session?.origin ?? Session.localOrigin),
            "user": session?.user.map { .string($0) } ?? .null,
            "client": session?.client.map { .string($0) } ?? .null,
            "trusted": .bool(session?.isTrusted ?? true),
        ]
    }
}
