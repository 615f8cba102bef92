import BridgeServer
import Glibc
import TaskRuntime

// The configured limits, in the types of the components that enforce them.
extension Configuration {
    /// The limits of the runtime.
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

    /// The limits of the server.
    var serverLimits: ServerLimits {
        var server = ServerLimits()
        server.sessions = limits.sessions
        server.stalled = limits.stalled
        return server
    }
}

extension Configuration {
    /// The policy of the runtime.
    var runtimePolicy: Policy {
        Policy(daemonUID: geteuid(), publicGroup: policy.publicGroup, rules: policy.rules)
    }
}
