import BridgeJSON
import BridgeMessage
import LaunchWorkers

// The parts of bridge.metrics. docs/monitoring.md explains each metric.
extension TaskRuntime {
    func writeDaemon(_ text: inout OpenMetricsText) {
        text.begin("trestle_build_info", .gauge, "Always 1; its label is the daemon's version.")
        text.add(.init(1), ["version": daemon.version])
        text.add(
            "trestle_uptime", .gauge, unit: "seconds", .init(clock.now.since(startedAt)),
            "Time since the daemon started.")
        text.add(
            "trestle_loop_lag", .gauge, unit: "seconds", .init(loopLag()),
            "The longest turn of the event loop within the last five to ten seconds.")
        writeLongTurns(&text)
        text.add("trestle_draining", .gauge, .init(calls.isDraining ? 1 : 0), "1 while the daemon is stopping.")
        text.begin(
            "trestle_launch_worker_duration", .gauge, unit: "seconds", "The duration of each launch worker.")
        for report in launch.reports {
            text.add(.init(report.duration), ["worker": report.name, "phase": report.phase])
        }
    }

    func writeLongTurns(_ text: inout OpenMetricsText) {
        text.add(
            "trestle_longest_turn", .gauge, unit: "seconds", .init(turns.long.longest),
            "The maximum CPU time of a turn of the event loop, among turns of more than 5 ms.")
        text.begin("trestle_long_turns", .counter, "Turns of the event loop that took more than 20 ms of CPU time.")
        for (step, count) in turns.long.steps.sorted(by: { $0.value.turns > $1.value.turns }) {
            text.add(
                .init(count.turns),
                ["step": step.name, "of": step.of ?? "", "uid": step.uid.map { "\($0)" } ?? ""])
        }
    }

    func writeTraffic(_ text: inout OpenMetricsText) {
        text.add("trestle_sessions", .gauge, .init(components.sessions.count), "Clients that are connected.")
        text.add("trestle_sessions_opened", .counter, .init(statistics.sessionsOpened), "Clients that have connected.")
        text.add("trestle_messages", .counter, .init(statistics.messages), "Valid messages.")
        text.add(
            "trestle_messages_invalid", .counter, .init(statistics.invalidMessages), "Invalid lines and batch items.")
        text.add(
            "trestle_calls_refused", .counter, .init(statistics.refusedCalls),
            "Calls that were answered with an error and not begun.")
        text.add(
            "trestle_replies_dropped", .counter, .init(statistics.droppedReplies), "Replies to calls that had ended.")
        text.add(
            "trestle_events_dropped", .counter, .init(statistics.droppedEvents), "Events that slow readers missed.")
        text.add("trestle_events_queued", .gauge, .init(quotas.unread.events), "Events that wait for slow readers.")
        text.add(
            "trestle_output_queued", .gauge, unit: "bytes", .init(quotas.unread.bytes),
            "Messages that clients have yet to read.")
        text.add("trestle_streams", .gauge, .init(streams.count), "Open streams.")
        text.add(
            "trestle_stream_queued", .gauge, unit: "bytes", .init(streams.waitingBytes),
            "Bytes of streams that wait for their readers.")
        text.add(
            "trestle_stream_read", .counter, unit: "bytes", .init(streams.movedBytes),
            "Bytes that readers of streams have received.")
        text.begin("trestle_quota_refusals", .counter, "Requests that were refused because of a quota.")
        for quota in QuotaName.allCases {
            text.add(.init(quotas.refusalCount(of: quota)), ["quota": quota.rawValue])
        }
        text.add("trestle_monitors", .gauge, .init(monitor.watcherCount), "Sessions that watch the traffic.")
    }

    // MARK: Tasks

    /// The upper bounds of the histogram's buckets: every second power of two minus 1 ns, from 4 µs to 69 s. The
    /// histogram itself has bounds there.
    private static let durationBounds: [UInt64] = stride(from: 12, through: 36, by: 2).map { (1 << $0) - 1 }

    /// Writes a task's samples of the family that was begun last.
    func write(_ family: TaskFamily, of task: TaskEntry, _ text: inout OpenMetricsText) {
        switch family {
        case .calls: text.add(.init(task.statistics.calls), ["task": task.name])
        case .errors: text.add(.init(task.statistics.errors), ["task": task.name])
        case .inFlight: text.add(.init(task.statistics.inFlight), ["task": task.name])
        case .duration: if let latency = task.statistics.latency { write(latency, of: task.name, &text) }
        }
    }

    private func write(_ latency: LatencyHistogram, of task: String, _ text: inout OpenMetricsText) {
        let (counts, all) = latency.cumulated(at: Self.durationBounds)
        for (bound, count) in zip(Self.durationBounds, counts) {
            text.add(.init(count), ["task": task, "le": (Double(bound) / 1e9).description], suffix: "_bucket")
        }
        text.add(.init(all), ["task": task, "le": "+Inf"], suffix: "_bucket")
        text.add(.init(all), ["task": task], suffix: "_count")
        text.add(.init(Double(latency.totalNanoseconds) / 1e9), ["task": task], suffix: "_sum")
    }

    // MARK: Plugins

    func writePlugins(_ text: inout OpenMetricsText) {
        text.begin("trestle_plugin_up", .gauge, "1 while the plugin takes calls.")
        for plugin in plugins { text.add(.init(plugin.state == .running ? 1 : 0), ["plugin": plugin.name]) }
        text.begin("trestle_plugin_restarts", .counter, "Restarts of the plugin.")
        for plugin in plugins { text.add(.init(plugin.restartCount), ["plugin": plugin.name]) }
        text.begin("trestle_plugin_calls_waiting", .gauge, "Calls that wait for their turn in the plugin.")
        for plugin in plugins { text.add(.init(plugin.waitingCount), ["plugin": plugin.name]) }
        text.begin(
            "trestle_plugin_loop_lag", .gauge, unit: "seconds",
            "The longest turn of the plugin's loop within the last five to ten seconds.")
        for plugin in plugins { if let lag = plugin.host.lag { text.add(.init(lag), ["plugin": plugin.name]) } }
        text.add("trestle_plugins_refused", .gauge, .init(refusedPlugins.count), "Plugins that could not be used.")
    }

    /// Writes a metric of a plugin. The plugin chose the name; if it results in the name of another family, the metric
    /// is omitted.
    func write(_ metric: PluginMetric, of plugin: PluginInstance, _ text: inout OpenMetricsText) {
        if text.begin(Self.family(of: metric.declaration, plugin)) { text.add(.init(metric.value)) }
    }

    static func family(of metric: MetricDeclaration, _ plugin: PluginInstance) -> OpenMetricsText.Family {
        .init(
            "trestle_plugin_\(OpenMetricsText.nameable(plugin.name))_\(metric.name)",
            metric.kind == .gauge ? .gauge : .counter, unit: metric.unit, metric.help)
    }

    // MARK: The process

    func writeProcess(_ text: inout OpenMetricsText) {
        guard let process = processMetrics() else { return }
        text.add(
            "process_cpu", .counter, unit: "seconds", .init(process.cpuSeconds),
            "Processor time of the daemon, in user and kernel mode.")
        text.add("process_resident_memory", .gauge, unit: "bytes", .init(process.residentBytes), "Memory in RAM.")
        text.add("process_virtual_memory", .gauge, unit: "bytes", .init(process.virtualBytes), "Address space.")
        text.add("process_open_fds", .gauge, .init(process.openDescriptors), "Open descriptors.")
        let maximum = process.maximumDescriptors.map { OpenMetricsText.Value($0) } ?? .init(Double.infinity)
        text.add("process_max_fds", .gauge, maximum, "Descriptors that the daemon may have.")
        text.add(
            "process_start_time", .gauge, unit: "seconds", .init(process.startSeconds),
            "When the daemon was started, since 1970.")
    }
}

/// A family with samples for each task.
enum TaskFamily: Int, CaseIterable {
    case calls
    case errors
    case inFlight
    case duration

    var family: OpenMetricsText.Family {
        switch self {
        case .calls: .init("trestle_calls", .counter, "Calls that have begun.")
        case .errors: .init("trestle_call_errors", .counter, "Calls that ended with an error.")
        case .inFlight: .init("trestle_calls_in_flight", .gauge, "Calls that have not ended.")
        case .duration:
            .init("trestle_call_duration", .histogram, unit: "seconds", "Time from a call's arrival to its callback.")
        }
    }
}
