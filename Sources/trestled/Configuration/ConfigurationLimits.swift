import BridgeServer
import Glibc
import TaskRuntime

// The configured bounds, as those who keep them have them.
extension Configuration {
    /// The bounds of the runtime.
    var runtimeLimits: RuntimeLimits {
        var runtime = RuntimeLimits()
        runtime.messageBytes = limits.messageBytes
        runtime.callsInFlight = limits.callsInFlight
        runtime.unreadBytes = limits.unreadBytes
        runtime.queuedEvents = limits.eventsQueued
        runtime.queuedEventBytes = limits.eventQueueBytes
        runtime.streamWindowBytes = limits.streamWindow
        runtime.callTimeout = callTimeout
        return runtime
    }

    /// The bounds of the server.
    var serverLimits: ServerLimits {
        var server = ServerLimits()
        server.sessions = limits.sessions
        server.stalled = limits.stalled
        return server
    }
}

extension Configuration {
    /// Who may do what.
    var runtimePolicy: Policy {
        Policy(daemonUID: geteuid(), publicGroup: policy.publicGroup, rules: policy.rules)
    }
}
