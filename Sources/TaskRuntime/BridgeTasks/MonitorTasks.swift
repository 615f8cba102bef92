import BridgeJSON

// bridge.monitor, bridge.metrics: the current traffic and the metrics.
extension TaskRuntime {
    var monitorTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.monitor", "Sends the traffic of the bridge to this session as it passes.", Monitor.self
            ) {
                [unowned self] call, options throws(BridgeError) in try monitor(call, options)
            },
            BridgeTasks.Task(
                answeringText: "bridge.metrics", "Returns the daemon's metrics as OpenMetrics text.", Metrics.self,
                takesAny: true
            ) {
                [unowned self] _, options throws(BridgeError) in try metricsPage(options.cursor).bytes
            },
        ]
    }

    private struct Metrics: Decodable {
        /// The end of the previous page; `nil` for the first page.
        var cursor: String?
    }

    private struct Monitor: Decodable {
        var task: String?
        var session: UInt64?
        var uid: UInt32?
        var payloadBytes: Int?
        var stop: Bool?
    }

    private func monitor(_ call: Call, _ wanted: Monitor) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        let task = try wanted.task.map { (text) throws(BridgeError) in try pattern(ofTask: text) }
        if wanted.stop == true {
            monitor.unwatch(session)
        } else {
            monitor.watch(
                session,
                TrafficFilter(
                    task: task, session: wanted.session, uid: wanted.uid, payloadBytes: try payloadBytes(wanted)))
        }
        return .object([:])
    }

    private func payloadBytes(_ wanted: Monitor) throws(BridgeError) -> Int {
        let bytes = wanted.payloadBytes ?? TrafficMask.usualBytes
        guard (1...TrafficMask.maximumBytes).contains(bytes) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.payloadBytes", expected: "an integer from 1 to \(TrafficMask.maximumBytes)",
                    got: "\(bytes)"))
        }
        return bytes
    }

    private func pattern(ofTask text: String) throws(BridgeError) -> EventPattern {
        guard let pattern = EventPattern(text) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.task", expected: "the name of a task: \(EventPattern.rule)",
                    got: "\"\(text.prefix(64))\""))
        }
        return pattern
    }
}
