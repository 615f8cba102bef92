import BridgeJSON
import PluginInterface
import TaskRuntime

/// The descriptions of callers for a plugin process, cached between calls. Loop thread only.
final class PluginProcessCallers {
    /// This `unowned(unsafe)` reference is safe: the runtime owns the hosts, which own this.
    private unowned(unsafe) let runtime: TaskRuntime
    private let texts = CallerCache<UInt32, [UInt8]>()

    init(_ runtime: TaskRuntime) { self.runtime = runtime }

    /// Calls `body` with the description of a call's caller. The bytes are borrowed.
    func withCaller(of call: Call, _ body: (UnsafeRawBufferPointer) -> Void) {
        let (session, revision) = call.callerRevision
        if let known = texts.value(of: session, revision) { return known.withUnsafeBytes(body) }
        let text = json(of: call.session).bytes
        _ = texts.keep(text, of: session, revision)
        text.withUnsafeBytes(body)
    }

    /// Returns the description of a session, or of the daemon itself if there is none.
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
