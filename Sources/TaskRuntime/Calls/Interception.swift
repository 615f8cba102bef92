import BridgeJSON
import Logging

// Calls on their way through interceptors: who is asked, and what comes of the answer.
//
// A question is a call of the runtime's own, made on behalf of the call that it is about: it shows the plugin that
// call's caller, what the plugin calls meanwhile is made on its behalf, and when the call ends, for whatever reason,
// the question is cancelled with it. The call itself stays the one that it is: its handle, its number, its deadline and
// its one callback.
extension CallEngine {
    /// Begins a call of a task that has interceptors.
    ///
    /// Never inlined: what only such calls need shall not stand in the way of the others.
    @inline(never)
    func intercept(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        guard let interceptor = nextInterceptor(of: call, task) else {
            return proceed(call, of: task, options: options)
        }
        ask(interceptor, about: call, of: task, options: options)
    }

    /// The first one that is to be asked about the call. One that is not at work, and that calls need not wait for, is
    /// passed by.
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
        // What a plugin calls in its own name is not shown to itself: it would ask about the question's own work for
        // ever.
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

    /// An interceptor calls the task that it was asked about: those that have seen that call do not see this one.
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
        // It may change the options.
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
        // Where it is still being thought about, no later call of the session may come before it.
        guard let call = self.call(handle), call.interception?.asked != nil, call.origin == .session,
            call.interception?.queue == nil, let plugin = call.task?.provider.queue
        else { return }
        keepPosition(of: call, in: plugin)
    }

    /// No later call of the call's session begins before it in this plugin.
    func keepPosition(of call: Call, in plugin: any QueueingProvider) {
        interception(of: call).queue = plugin
        plugin.keepPosition(of: call)
    }

    /// What the interceptor is asked: the options stand last.
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
        // A call that has ended meanwhile is past deciding.
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
        error.message = "\(interceptor.label) failed, and \(task.name) is not called without it: \(error.message)"
        end(call, error: error)
    }

    /// What a plugin wrote may have line breaks between its tokens; options are taken to have none.
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

    /// The caller must be allowed to call the other task as well: an interceptor gives no caller its own rights.
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

    /// The call is one of the other task from now on, and counts for both.
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

    // MARK: Going on

    /// No further interceptor is to be asked: the call goes to its task, in its turn.
    private func proceed(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        // They may be others, and the task may be another one, than when the call began.
        guard options.count <= task.optionBytes else { return refuseLength(of: call, options.count, task.optionBytes) }
        if let check = task.optionsCheck, !fits(call, options, check) { return }
        call.interception?.options = []
        guard let interception = call.interception, let queue = interception.queue else {
            return task.provider.start(call, of: task, options: options)
        }
        interception.queue = nil
        queue.proceed(call, options: options)
    }

    /// The call no longer keeps a position in the queue, and those behind it may have waited for it alone.
    func leaveQueue(_ call: Call) {
        guard let queue = call.record.pointee.extras?.waitsIn else { return }
        call.interception?.queue = nil
        queue.leaveQueue(of: call)
        admitLater(queue)
    }

    /// Whether a provider works on the call, or an interceptor that was asked about it may have done something.
    func hasBegun(_ call: Call) -> Bool {
        if call.state == .running { return true }
        guard let asked = call.interception?.asked else { return false }
        return self.call(asked.question)?.state == .running
    }

    /// What did not answer a call in time, as the beginning of a sentence.
    func whoIsLate(with call: Call) -> String {
        let task = call.task?.name ?? "the task"
        guard let asked = call.interception?.asked else { return "\(task) did not answer" }
        return "\(asked.interceptor.label) did not decide about \(task)"
    }
}
