import BridgeJSON

// What operators and callers see of interceptors: in bridge.describe, bridge.status, bridge.metrics and the traffic.
extension TaskRuntime {
    /// A call is shown to an interceptor.
    func showQuestion(to interceptor: Interceptor, about call: Call, _ task: TaskEntry) {
        show("ask", call, task) { line in
            line.add("interceptor", .string(interceptor.name))
            line.add("plugin", .string(interceptor.plugin.name))
        }
    }

    /// An interceptor has decided. What comes of it, a callback or another task's work, is shown as of any call.
    func showDecision(
        _ decision: InterceptorDecision, of interceptor: Interceptor, about call: Call, _ task: TaskEntry,
        since: RuntimeInstant
    ) {
        let took = readClock().since(since)
        show("decision", call, task) { line in
            line.add("interceptor", .string(interceptor.name))
            line.add("plugin", .string(interceptor.plugin.name))
            line.add("decision", .string(decision.word))
            line.add("durationUs", took.wholeNanoseconds / 1000)
            switch decision {
            case .rewrite(let options): line.add("options", payload: options, isPrivate: false)
            case .redirect(let name, let options):
                line.add("target", .string(name))
                let isPrivate = registry.find(name)?.description.isPrivate ?? false
                if let options { line.add("options", payload: options, isPrivate: isPrivate) }
            case .failure(let error): line.add(error, isPrivate: false)
            // The callback that follows bears it.
            case .pass, .answer, .refuse: break
            }
        }
    }

    /// Those of a task, in the order in which they are asked.
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

    /// All of them with what they did, in the order in which they were registered.
    func reportInterceptors() -> JSON { .array(registry.interceptors.all.map(report)) }

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
        let all = registry.interceptors.all
        text.begin("trestle_interceptor_questions", .counter, "Calls that the interceptor was asked about.")
        for one in all { text.add(.init(one.counts.asked), ["plugin": one.plugin.name, "interceptor": one.name]) }
        text.begin("trestle_interceptor_decisions", .counter, "What came of them.")
        for one in all {
            for (name, count) in one.counts.all where name != "asked" {
                text.add(.init(count), ["plugin": one.plugin.name, "interceptor": one.name, "decision": name])
            }
        }
    }
}
