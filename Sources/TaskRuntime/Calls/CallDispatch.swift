import BridgeJSON
import Logging

// The way of a call to its task.
extension CallEngine {
    /// Hands a call to its provider; where it does not end immediately, its id and its deadline count from here on.
    func dispatch(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        let handle = call.handle
        noteBegin(of: call, task, options: options)
        start(call, of: task, options: options)
        settle(call, handle, options.count)
    }

    /// Begins a call's work, unless its options do not fit; where its task has interceptors, these come first.
    @inline(__always)
    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        guard options.count <= task.optionBytes else { return refuseLength(of: call, options.count, task.optionBytes) }
        if task.interceptors != nil { return intercept(call, of: task, options: options) }
        if let check = task.optionsCheck, !fits(call, options, check) { return }
        task.provider.start(call, of: task, options: options)
    }

    func refuseLength(of call: Call, _ bytes: Int, _ maximumBytes: Int) {
        do throws(BridgeError) { try Self.checkLength(bytes, maximumBytes) } catch { end(call, error: error) }
    }

    /// - Throws: `options.invalid`, where options are longer than their task takes.
    static func checkLength(_ bytes: Int, _ maximumBytes: Int) throws(BridgeError) {
        guard bytes > maximumBytes else { return }
        throw BridgeError(
            JSONMismatch(path: "$", expected: "at most \(maximumBytes) bytes of options", got: "\(bytes) bytes"))
    }

    @inline(__always)
    func noteBegin(of call: Call, _ task: TaskEntry, options: UnsafeRawBufferPointer) {
        task.statistics.calls += 1
        task.statistics.inFlight += 1
        if monitor.isWatched { monitor.showBegin(of: call, task, options: options) }
    }

    /// Enters a call that has not ended immediately.
    @inline(__always)
    func settle(_ call: Call, _ handle: CallHandle, _ optionsBytes: Int) {
        guard call.handle == handle, call.state != .free else { return }
        // Where it has ended, that has read the clock.
        time.noteInputTime()
        // What is written to a stream is in its window, which is counted.
        if optionsBytes >= Quotas.countedOptionsBytes, call.task?.stream == nil { hold(optionsBytes, for: call) }
        if call.origin == .session, call.hasID { call.session?.index.insert(call) }
        park(call)
    }

    /// The task that a call goes on with which has not begun: that of the plugin that has taken the place of its own
    /// meanwhile, if one has. Calls that wait for an interceptor, for a description or for a check go on by this.
    ///
    /// - Returns: nil where the call has ended because its task is gone.
    func successor(of call: Call) -> TaskEntry? {
        while let task = call.task {
            guard call.state != .running, let succession = task.succession else { return task }
            switch succession {
            case .task(let next): call.move(to: next)
            case .none(let error):
                abort(call, error, reason: .shutdown)
                return nil
            }
        }
        return nil
    }

    /// Answers a call of a task that had nothing to answer yet. One that has ended meanwhile is passed over.
    func answer(_ handle: CallHandle, _ result: Result<JSON, BridgeError>) {
        answer(handle, text: result.map(\.bytes))
    }

    /// The same with JSON text.
    func answer(_ handle: CallHandle, text result: Result<[UInt8], BridgeError>) {
        guard let call = call(handle) else { return }
        switch result {
        case .success(let text): text.withUnsafeBytes { end(call, .result($0)) }
        case .failure(let error): end(call, .failure(error))
        }
    }

    // MARK: What is no call

    /// A call was not begun.
    ///
    /// - Parameter session: whose call it is; nil: a plugin's.
    func noteRefusal(of task: UnsafeRawBufferPointer, _ error: BridgeError, _ session: Session?) {
        counters.values.refusedCalls += 1
        if monitor.isWatched {
            monitor.showRefusal(of: String(decoding: task.prefix(256), as: UTF8.self), error, session)
        }
    }

    /// A reply came that no caller waits for: it is counted, and reported at the debug level, or at another one.
    func dropReply(
        _ what: @autoclosure () -> String, _ metadata: @autoclosure () -> Logger.Metadata,
        level: Logger.Level = .debug
    ) {
        counters.values.droppedReplies += 1
        log.log(level: level, "a reply was dropped: \(what())", metadata: metadata())
    }
}
