import BridgeJSON

// Questions to interceptors and their decisions, for sessions that watch the traffic.
extension TrafficMonitor {
    /// Shows that an interceptor is asked about a call.
    func showQuestion(to interceptor: Interceptor, about call: Call, _ task: TaskEntry) {
        show("ask", call, task) { line in
            line.add("interceptor", .string(interceptor.name))
            line.add("plugin", .string(interceptor.plugin.name))
        }
    }

    /// Shows a decision of an interceptor. Its effects, such as a callback or another task's work, are shown as for any
    /// call.
    func showDecision(
        _ decision: InterceptorDecision, of interceptor: Interceptor, about call: Call, _ task: TaskEntry,
        since: RuntimeInstant
    ) {
        let took = time.read().since(since)
        show("decision", call, task) { line in
            line.add("interceptor", .string(interceptor.name))
            line.add("plugin", .string(interceptor.plugin.name))
            line.add("decision", .string(decision.word))
            line.add("durationUs", took.wholeNanoseconds / 1000)
            switch decision {
            case .rewrite(let options): line.add("options", payload: options, isPrivate: false)
            case .redirect(let name, let options):
                line.add("target", .string(name))
                let isPrivate = tasks.find(name)?.description.isPrivate ?? false
                if let options { line.add("options", payload: options, isPrivate: isPrivate) }
            case .failure(let error): line.add(error, isPrivate: false)
            // The callback that follows contains the result or error.
            case .pass, .answer, .refuse: break
            }
        }
    }
}
