import BridgeJSON

// What interceptors are asked and decide, for those who watch the traffic.
extension TrafficMonitor {
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
            // The callback that follows bears it.
            case .pass, .answer, .refuse: break
            }
        }
    }
}
