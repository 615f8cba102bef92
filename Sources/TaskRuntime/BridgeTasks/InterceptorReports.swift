import BridgeJSON

// The interceptors in bridge.describe, bridge.status and bridge.metrics.
extension TaskRuntime {
    /// Returns the interceptors of a task, in the order in which they are asked.
    func describeInterceptors(of task: TaskEntry) -> JSON {
        .array(
            (task.interceptors ?? []).map { interceptor in
                [
                    "name": .string(interceptor.name), "plugin": .string(interceptor.plugin.name),
                    "summary": .string(interceptor.description.summary),
                    "onFailure": .string(interceptor.description.onFailure.rawValue),
                ]
            })
    }

    /// Returns all interceptors with their counters, in the order in which they were registered.
    func reportInterceptors() -> JSON { .array(tasks.interceptors.all.map(report)) }

    private func report(_ interceptor: Interceptor) -> JSON {
        let latency = interceptor.entry.statistics.latency
        func microseconds(_ share: Double) -> JSON {
            latency?.quantile(share).map { .number(JSONNumber($0.wholeNanoseconds / 1000)) } ?? .null
        }
        var object: JSONObject = [
            "name": .string(interceptor.name), "plugin": .string(interceptor.plugin.name),
            "tasks": .array(interceptor.patterns.map { .string($0.text) }),
            "onFailure": .string(interceptor.description.onFailure.rawValue),
        ]
        for (name, count) in interceptor.counts.all { object[name] = .number(JSONNumber(count)) }
        object["p50Us"] = microseconds(0.5)
        object["p99Us"] = microseconds(0.99)
        return .object(object)
    }

    func writeInterceptors(_ text: inout OpenMetricsText) {
        let all = tasks.interceptors.all
        text.begin("trestle_interceptor_questions", .counter, "Calls that the interceptor was asked about.")
        for one in all { text.add(.init(one.counts.asked), ["plugin": one.plugin.name, "interceptor": one.name]) }
        text.begin("trestle_interceptor_decisions", .counter, "Decisions of the interceptor, by kind.")
        for one in all {
            for (name, count) in one.counts.all where name != "asked" {
                text.add(.init(count), ["plugin": one.plugin.name, "interceptor": one.name, "decision": name])
            }
        }
    }
}
