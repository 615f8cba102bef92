import BridgeMessage
import Logging
import TaskRuntime

/// A host without a plugin: answers each call with its options before `perform` returns, as Echo does.
final class EchoHost: TaskHost {
    let isolation = "none"
    private var instance: PluginInstance?

    /// Creates a runtime with one plugin whose one task is `Echo`.
    static func makeRuntime() -> TaskRuntime {
        let runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: 0),
            daemon: DaemonDescription(version: "micro", pid: 0), clock: StandingClock(),
            log: Logger(label: "micro", factory: { _ in SwiftLogNoOpLogHandler() }))
        let manifest = Array(#"{"name":"echo","version":"1.0.0","tasks":[{"name":"Echo","summary":"Echoes."}]}"#.utf8)
        let host = EchoHost()
        do {
            let instance = try manifest.withUnsafeBytes { bytes throws in
                try runtime.add(PluginManifest(parsing: bytes), path: "none", host: host)
            }
            try runtime.open(instance)
            host.instance = instance
        } catch {
            fatalError("the benchmark's own plugin was refused: \(error)")
        }
        return runtime
    }

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        instance?.reply(call.handle, options, isChecked: true)
    }

    func cancel(_ call: CallHandle, reason: CancelReason) {}
    func notify(_ change: SessionChange, _ session: Session) {}
}

/// A clock that always returns the same time: reading the time is part of the daemon, and not of routing.
private final class StandingClock: RuntimeClock {
    let now = RuntimeInstant(nanoseconds: 1_000_000_000)
    func wake(at moment: RuntimeInstant?) {}
}

/// A session and its connection without a socket: the session's output is dropped at the end of each turn.
final class Desk: SessionTransport {
    let runtime = EchoHost.makeRuntime()
    lazy var session = runtime.open(PeerIdentity(uid: 0, gid: 0, pid: 1), transport: self)

    func writeOutput() { session.output.removeFirst(session.output.count) }
    func closeWhenWritten() {}
}
