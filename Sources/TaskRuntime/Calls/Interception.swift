import BridgeJSON
import Logging

// Calls that pass through interceptors: which are asked, and what follows from their answers.
//
// A question is a call of the runtime, made on behalf of the call that it is about. So the plugin can read that call's
// caller, calls that the plugin makes meanwhile are made on its behalf, and the question is cancelled when that call
// ends, for whatever reason. The call itself keeps its handle, its number, its deadline and its one callback.
extension CallEngine {
    /// Begins a call of a task that has interceptors.
    ///
    /// Never inlined, so that code for these calls does not slow down all others.
    @inline(never)
    func intercept(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        guard let interceptor = nextInterceptor(of: call, task) else {
            return proceed(call, of: task, options: options)
        }
        ask(interceptor, about: call, of: task, options: options)
    }

    /// Returns the first interceptor that must be asked about the call. One is skipped if its plugin is not running and
    /// its failure lets calls pass.
    private func nextInterceptor(of call: Call, _ task: TaskEntry) -> Interceptor? {
        for interceptor in task.interceptors ?? [] where !isDone(interceptor, with: call) {
            if interceptor.plugin.isRunning || interceptor.description.onFailure == .refuse {
                return interceptor
            }
            interceptor.counts.failed += 1
            interception(of: call).seen.append(interceptor)
        }
        return nil
    }

    private func isDone(_ interceptor: Interceptor, with call: Call) -> Bool {
        guard call.hasExtras else { return false }
        // A plugin's calls in its own name are not shown to its own interceptors: questions about them would cause more
        // such calls without end.
        if call.origin == .plugin, call.parent == nil, call.pluginName == interceptor.plugin.name { return true }
        return call.interception?.seen.contains { $0.isSame(as: interceptor) } == true
            || call.ancestry.contains { $0.isSame(as: interceptor) }
    }

    private func interception(of call: Call) -> InterceptionState {
        if let interception = call.interception { return interception }
        let made = InterceptionState()
        call.extras.interception = made
        return made
    }

    /// Returns the state for a call that an interceptor makes to the task that it was asked about: interceptors that
    /// have seen the original call do not see this one. `nil` for other tasks.
    func interception(ofCallBehind question: Call, of task: TaskEntry) -> InterceptionState? {
        guard let call = question.parent.flatMap({ self.call($0) }), call.task === task,
            let interception = call.interception
        else { return nil }
        let made = InterceptionState()
        made.seen = interception.seen
        return made
    }

    // MARK: Asking

    private func ask(
        _ interceptor: Interceptor, about call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer
    ) {
        let handle = call.handle
        let interception = interception(of: call)
        // The interceptor may change the options.
        call.extras.fitting = nil
        interception.seen.append(interceptor)
        interception.hold(options)
        let now = time.callTime
        let question = begin(
            CallRequest(
                origin: .question, task: .passUnretained(interceptor.entry), session: call.record.pointee.session,
                wantsProgress: call.takesProgress, startedAt: now, deadline: call.deadline))
        let extras = question.extras
        extras.parent = handle
        extras.rootNumber = call.rootNumber
        extras.ancestry = call.ancestry + [interceptor]
        extras.completion = { [unowned self] outcome in decide(interceptor, outcome, about: handle) }
        extras.onProgress = { [unowned self] _, value in
            if let call = self.call(handle) { progress(call, value) }
        }
        call.extras.children.append(question.handle)
        interception.asked = (interceptor, question.handle, now)
        interceptor.counts.asked += 1
        interceptor.entry.statistics.calls += 1
        interceptor.entry.statistics.inFlight += 1
        if monitor.isWatched { monitor.showQuestion(to: interceptor, about: call, task) }
        text(ofQuestionAbout: call, task, to: interceptor, options).withPadding {
            interceptor.plugin.start(question, of: interceptor.entry, options: $0)
        }
        // While the interceptor is deciding, no later call of the session may start before this one.
        guard let call = self.call(handle), call.interception?.asked != nil, call.origin == .session,
            call.interception?.queue == nil, let plugin = call.task?.provider.queue
        else { return }
        keepPosition(of: call, in: plugin)
    }

    /// Keeps the call's position in a plugin's queue: no later call of its session begins before it.
    func keepPosition(of call: Call, in plugin: any QueueingProvider) {
        interception(of: call).queue = plugin
        plugin.keepPosition(of: call)
    }

    /// Returns the text of the question; the options are the last member.
    private func text(
        ofQuestionAbout call: Call, _ task: TaskEntry, to interceptor: Interceptor, _ options: UnsafeRawBufferPointer
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(options.count + 192)
        text += #"{"interceptor":"#.utf8
        text += interceptor.quotedName
        text += #","task":"#.utf8
        text += task.quotedName
        if let target = call.target { text += #","session":\#(target.number)"#.utf8 }
        if call.isOneWay { text += #","oneWay":true"#.utf8 }
        text += #","options":"#.utf8
        text += options
        text += "}".utf8
        return text
    }

    // MARK: Deciding

    private func decide(_ interceptor: Interceptor, _ outcome: CallOutcome, about handle: CallHandle) {
        // For a call that has ended meanwhile, the decision is ignored.
        guard let call = self.call(handle), let interception = call.interception, let asked = interception.asked,
            let task = successor(of: call)
        else { return }
        interception.asked = nil
        let decision = InterceptorDecision(outcome, of: interceptor, check)
        if monitor.isWatched { monitor.showDecision(decision, of: interceptor, about: call, task, since: asked.since) }
        switch decision {
        case .pass:
            interceptor.counts.passed += 1
            interception.withOptions { intercept(call, of: task, options: $0) }
        case .rewrite(let options):
            interceptor.counts.rewrote += 1
            Self.onOneLine(options).withPadding { intercept(call, of: task, options: $0) }
        case .redirect(let name, let options):
            interceptor.counts.redirected += 1
            redirect(call, of: task, to: name, options, by: interceptor)
        case .answer(let result):
            interceptor.counts.answered += 1
            end(call, result: result)
        case .refuse(let error):
            interceptor.counts.refused += 1
            end(call, error: error)
        case .failure(let error):
            interceptor.counts.failed += 1
            fail(call, of: task, error, interceptor)
        }
    }

    private func fail(_ call: Call, of task: TaskEntry, _ error: BridgeError, _ interceptor: Interceptor) {
        let level: Logger.Level = interceptor.takesWarning(at: time.lastReading) ? .warning : .debug
        log.log(
            level: level, "\(interceptor.label) failed about a call of \(task.name): \(error)",
            metadata: call.logMetadata)
        guard interceptor.description.onFailure == .refuse else {
            call.interception?.withOptions { intercept(call, of: task, options: $0) }
            return
        }
        var error = error
        var data = error.data?.objectValue ?? [:]
        data["interceptor"] = .string(interceptor.name)
        error.data = .object(data)
        error.message = "\(interceptor.label) failed, so the call of \(task.name) was refused: \(error.message)"
        end(call, error: error)
    }

    /// A plugin's JSON may contain line breaks between tokens; options must not.
    private static func onOneLine(_ json: UnsafeRawBufferPointer) -> [UInt8] { json.map { $0 == 0x0A ? 0x20 : $0 } }

    // MARK: Other tasks

    private func redirect(
        _ call: Call, of task: TaskEntry, to name: String, _ options: UnsafeRawBufferPointer?,
        by interceptor: Interceptor
    ) {
        let target: TaskEntry
        do throws(BridgeError) {
            target = try self.target(name, of: call, task, interceptor)
        } catch {
            return end(call, error: error)
        }
        move(call, from: task, to: target)
        if let options {
            Self.onOneLine(options).withPadding { intercept(call, of: target, options: $0) }
        } else {
            call.interception?.withOptions { intercept(call, of: target, options: $0) }
        }
    }

    /// Returns the task to which a call is redirected. The caller must be allowed to call it too: an interceptor's
    /// rights do not extend to the caller.
    private func target(
        _ name: String, of call: Call, _ task: TaskEntry, _ interceptor: Interceptor
    ) throws(BridgeError) -> TaskEntry {
        let redirection: JSONObject = ["interceptor": .string(interceptor.name), "task": .string(name)]
        guard let target = tasks.find(name), !target.isInternal else {
            throw BridgeError(
                .taskNotFound,
                "\(interceptor.label) redirected the call of \(task.name) to \(name), which does not exist",
                data: .object(redirection))
        }
        guard let session = call.session, !rights.mayCall(target, session) else { return target }
        var data = redirection
        data["rule"] = .string(rights.decision(onCallOf: target, by: session).rule)
        throw BridgeError(
            .permissionDenied,
            "uid \(session.peer.uid) may not call \(name), to which \(interceptor.label) redirected the call of "
                + "\(task.name)",
            data: .object(data))
    }

    /// Moves the call to another task. It is counted for both tasks.
    private func move(_ call: Call, from task: TaskEntry, to target: TaskEntry) {
        guard target !== task else { return }
        leaveQueue(call)
        if let interception = call.interception, interception.original == nil { interception.original = task }
        let took = time.read().nanoseconds &- call.startedAt.nanoseconds
        task.statistics.recordEnd(afterNanoseconds: took, isFailure: false)
        call.record.pointee.task = .passUnretained(target)
        target.statistics.calls += 1
        target.statistics.inFlight += 1
    }

    // MARK: Continuing

    /// Passes the call to its task, in its turn, after the last interceptor.
    private func proceed(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        // The options and the task may have changed since the call began.
        guard options.count <= task.optionBytes else { return refuseLength(of: call, options.count, task.optionBytes) }
        if let check = task.optionsCheck, !fits(call, options, check) { return }
        call.interception?.options = []
        guard let interception = call.interception, let queue = interception.queue else {
            return task.provider.start(call, of: task, options: options)
        }
        interception.queue = nil
        queue.proceed(call, options: options)
    }

    /// Removes the call from its queue; calls behind it may have waited for it alone.
    func leaveQueue(_ call: Call) {
        guard let queue = call.record.pointee.extras?.waitsIn else { return }
        call.interception?.queue = nil
        queue.leaveQueue(of: call)
        admitLater(queue)
    }

    /// Whether a provider works on the call, or an interceptor may already have acted on a question about it.
    func hasBegun(_ call: Call) -> Bool {
        if call.state == .running { return true }
        guard let asked = call.interception?.asked else { return false }
        return self.call(asked.question)?.state == .running
    }

    /// Returns what did not answer a call in time, as the beginning of a sentence.
    func whoIsLate(with call: Call) -> String {
        let task = call.task?.name ?? "the task"
        guard let asked = call.interception?.asked else { return "\(task) did not answer" }
        return "\(asked.interceptor.label) did not decide about \(task)"
    }
}
