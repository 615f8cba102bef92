import BridgeJSON
import BridgeMessage
import LaunchWorkers

// bridge.sessions, bridge.status, bridge.plugins: the state of the daemon.
extension TaskRuntime {
    var statusTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(table: "bridge.sessions", "Lists the sessions that are connected.") {
                [unowned self] _, request throws(BridgeError) in try listSessions(request)
            },
            BridgeTasks.Task(table: "bridge.status", "Returns the daemon's state.") {
                [unowned self] _, request throws(BridgeError) in try status(request)
            },
            BridgeTasks.Task(table: "bridge.plugins", "Lists the plugins and their state.") {
                [unowned self] _, request throws(BridgeError) in try listPlugins(request)
            },
        ]
    }

    private func listSessions(_ request: PageRequest) throws(BridgeError) -> [UInt8] {
        let now = clock.now
        return try page(
            "sessions", request, of: components.sessions.list.after(try request.number()),
            position: { String($0.number) },
            text: { describe($0, now).bytes }, name: { ["session": .number(JSONNumber($0.number))] })
    }

    /// The maximum number of tasks, and of subscriptions, that are listed of a session. It is the number that the
    /// default settings allow.
    private static var maximumListed: Int { 256 }

    private func describe(_ session: Session, _ now: RuntimeInstant) -> JSON {
        [
            "session": .number(JSONNumber(session.number)), "uid": .number(JSONNumber(UInt64(session.peer.uid))),
            "gid": .number(JSONNumber(UInt64(session.peer.gid))),
            "pid": .number(JSONNumber(Int64(session.peer.pid))),
            "client": session.client.map(JSON.string) ?? .null, "version": session.version.map(JSON.string) ?? .null,
            "userAgent": session.userAgent.map(JSON.string) ?? .null,
            "origin": .string(session.origin), "user": session.user.map(JSON.string) ?? .null,
            "page": session.page ?? .null, "calls": .number(JSONNumber(session.callsMade)),
            "inFlight": .number(JSONNumber(session.callsInFlight)),
            "receivedBytes": .number(JSONNumber(session.receivedBytes)),
            "sentBytes": .number(JSONNumber(session.sentBytes)),
            "queuedBytes": .number(JSONNumber(session.queuedBytes)),
            "tasks": .array(session.registrations.prefix(Self.maximumListed).sorted().map { .string($0) }),
            "subscriptions": .array(session.patterns.prefix(Self.maximumListed).map { .string($0.text) }),
            "openMs": .number(JSONNumber(now.since(session.openedAt).wholeMilliseconds)),
        ]
    }

    /// Returns a page of the status. The first page has everything; the others continue the list of tasks.
    private func status(_ request: PageRequest) throws(BridgeError) -> [UInt8] {
        try page(
            "tasks", after: request.cursor == nil ? status() : [:], request, of: tasks.after(request.cursor ?? ""),
            position: { $0.name }, text: { $0.statistics.calls > 0 ? describe($0).bytes : nil },
            name: { ["name": .string($0.name)] })
    }

    private func status() -> JSONObject {
        [
            "version": .string(daemon.version), "pid": .number(JSONNumber(Int64(daemon.pid))),
            "uptimeMs": .number(JSONNumber(clock.now.since(startedAt).wholeMilliseconds)),
            "loopLagUs": .number(JSONNumber(loopLag().wholeNanoseconds / 1000)),
            "longTurns": reportLongTurns(),
            "draining": .bool(calls.isDraining), "sessions": .number(JSONNumber(components.sessions.count)),
            "callsInFlight": .number(JSONNumber(calls.count)),
            "messages": .number(JSONNumber(statistics.messages)),
            "invalidMessages": .number(JSONNumber(statistics.invalidMessages)),
            "refusedCalls": .number(JSONNumber(statistics.refusedCalls)),
            "droppedReplies": .number(JSONNumber(statistics.droppedReplies)),
            "droppedEvents": .number(JSONNumber(statistics.droppedEvents)),
            "sessionsOpened": .number(JSONNumber(statistics.sessionsOpened)),
            "monitors": .number(JSONNumber(monitor.watcherCount)),
            "waitingCalls": .number(JSONNumber(plugins.reduce(0) { $0 + $1.waitingCount })),
            "queuedBytes": .number(JSONNumber(quotas.unread.bytes)),
            "queuedEvents": .number(JSONNumber(quotas.unread.events)),
            "streams": .number(JSONNumber(streams.count)),
            "streamBytes": .number(JSONNumber(streams.waitingBytes)),
            "quotaRefusals": quotaRefusals,
            "launch": .array(launch.reports.map(describe)),
            "plugins": .array((plugins + leavingPlugins).map(summarize) + refusedPlugins.map(describe)),
            "interceptors": reportInterceptors(),
            "metrics": .array(plugins.flatMap { plugin in plugin.metrics.all.map { describe($0, of: plugin) } }),
        ]
    }

    /// The number of refusals for each quota.
    private var quotaRefusals: JSON {
        .object(
            QuotaName.allCases.reduce(into: JSONObject()) {
                $0[$1.rawValue] = .number(JSONNumber(quotas.refusalCount(of: $1)))
            })
    }

    private func summarize(_ plugin: PluginInstance) -> JSON {
        var summary: JSONObject = [
            "name": .string(plugin.name), "state": .string(plugin.state.rawValue),
            "waiting": .number(JSONNumber(plugin.waitingCount)),
            "restarts": .number(JSONNumber(plugin.restartCount)),
        ]
        summary["lagMs"] = describeLag(of: plugin)
        summary["pool"] = plugin.host.processStatus?.pool.map(describe)
        return .object(summary)
    }

    private func describeLag(of plugin: PluginInstance) -> JSON? {
        plugin.host.lag.map { .number(JSONNumber($0.wholeMilliseconds)) }
    }

    private func describe(_ metric: PluginMetric, of plugin: PluginInstance) -> JSON {
        let declared = metric.declaration
        // A value that is not a number in JSON becomes null.
        let number = Int64(exactly: metric.value).map { JSONNumber($0) } ?? JSONNumber(metric.value)
        return [
            "plugin": .string(plugin.name), "name": .string(declared.name), "kind": .string(declared.kind.rawValue),
            "value": number.map(JSON.number) ?? .null, "unit": declared.unit.map(JSON.string) ?? .null,
            "help": .string(declared.help),
        ]
    }

    private func describe(_ report: LaunchReport) -> JSON {
        [
            "name": .string(report.name), "phase": .string(report.phase),
            "durationUs": .number(JSONNumber(report.duration.wholeNanoseconds / 1000)),
            "state": report.failure == nil ? "done" : "failed",
            "error": report.failure.map(JSON.string) ?? .null,
        ]
    }

    private func describe(_ task: TaskEntry) -> JSON {
        let statistics = task.statistics
        func microseconds(_ share: Double) -> JSON {
            statistics.latency?.quantile(share).map { .number(JSONNumber($0.wholeNanoseconds / 1000)) } ?? .null
        }
        return [
            "name": .string(task.name), "calls": .number(JSONNumber(statistics.calls)),
            "errors": .number(JSONNumber(statistics.errors)), "inFlight": .number(JSONNumber(statistics.inFlight)),
            "p50Us": microseconds(0.5), "p99Us": microseconds(0.99),
        ]
    }

    /// Lists the plugins in their order. The indices are the cursors, because refused plugins have no other identifier.
    private func listPlugins(_ request: PageRequest) throws(BridgeError) -> [UInt8] {
        let listed =
            (plugins + leavingPlugins).map { plugin in (name: plugin.name, describe: { self.describe(plugin) }) }
            + refusedPlugins.map { plugin in (name: plugin.name, describe: { self.describe(plugin) }) }
        let start = Int(clamping: try request.number())
        return try page(
            "plugins", after: localPluginDirectory.map { ["localDirectory": .string($0)] } ?? [:], request,
            of: listed.enumerated().dropFirst(start), position: { String($0.offset + 1) },
            text: { $0.element.describe().bytes }, name: { ["name": .string($0.element.name)] })
    }

    private func describe(_ plugin: PluginInstance) -> JSON {
        var described: JSONObject = [
            "name": .string(plugin.name), "version": .string(plugin.manifest.version),
            "state": .string(plugin.state.rawValue), "isolation": .string(plugin.host.isolation),
            "path": .string(plugin.path),
            "tasks": .array(plugin.tasks.map { .string($0.name) }),
            "waiting": .number(JSONNumber(plugin.waitingCount)),
            "restarts": .number(JSONNumber(plugin.restartCount)),
        ]
        described["lagMs"] = describeLag(of: plugin)
        if !plugin.interceptors.isEmpty {
            described["interceptors"] = .array(plugin.interceptors.map { .string($0.name) })
        }
        if let process = plugin.host.processStatus {
            described["pid"] = process.pid.map { .number(JSONNumber(Int($0))) } ?? .null
            described["lastFault"] = process.lastFault.map { .string($0) }
            described["pool"] = process.pool.map(describe)
        }
        return .object(described)
    }

    private func describe(_ pool: PoolStatus) -> JSON {
        [
            "min": .number(JSONNumber(pool.minimum)), "max": .number(JSONNumber(pool.maximum)),
            "per": .string(pool.per),
            "reusable": .number(JSONNumber(pool.reusable)), "inUse": .number(JSONNumber(pool.inUse)),
            "starting": .number(JSONNumber(pool.starting)),
            "warmStarts": .number(JSONNumber(pool.warmStarts)), "coldStarts": .number(JSONNumber(pool.coldStarts)),
            "recycled": .number(JSONNumber(pool.recycled)),
        ]
    }

    private func describe(_ plugin: RefusedPlugin) -> JSON {
        [
            "name": .string(plugin.name), "state": "refused", "path": .string(plugin.path),
            "error": .string(plugin.reason),
        ]
    }
}
