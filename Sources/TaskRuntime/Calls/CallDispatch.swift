import BridgeJSON
import Logging

// How a call reaches its task.
extension CallEngine {
    /// Passes a call to its provider. If it does not end immediately, it is then entered under its id and its deadline.
    func dispatch(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        let handle = call.handle
        noteBegin(of: call, task, options: options)
        start(call, of: task, options: options)
        settle(call, handle, options.count)
    }

    /// Begins a call's work, unless its options are invalid. If its task has interceptors, these are asked first.
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

    /// - Throws: `options.invalid` if options are longer than their task accepts.
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
        // If the call has ended, its end has read the clock.
        time.noteInputTime()
        // Bytes written to a stream are in its window, which is counted.
        if optionsBytes >= Quotas.countedOptionsBytes, call.task?.stream == nil { hold(optionsBytes, for: call) }
        if call.origin == .session, call.hasID { call.session?.index.insert(call) }
        park(call)
    }

    /// Returns the task with which a call that has not begun continues: that of the plugin that has replaced its own
    /// meanwhile, if one has. Used for calls that waited for an interceptor, a description or a check.
    ///
    /// - Returns: The task; `nil` if the call has ended because its task was removed.
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

    /// Answers a call whose task answers later. A call that has ended meanwhile is ignored.
    func answer(_ handle: CallHandle, _ result: Result<JSON, BridgeError>) {
        answer(handle, text: result.map(\.bytes))
    }

    /// Does the same with JSON text.
    func answer(_ handle: CallHandle, text result: Result<[UInt8], BridgeError>) {
        guard let call = call(handle) else { return }
        switch result {
        case .success(let text): text.withUnsafeBytes { end(call, .result($0)) }
        case .failure(let error): end(call, .failure(error))
        }
    }

    // MARK: Refusals and late replies

    /// Records that a call was refused before it began.
    ///
    /// - Parameter session: The session that made the call; `nil` for a plugin.
    func noteRefusal(of task: UnsafeRawBufferPointer, _ error: BridgeError, _ session: Session?) {
        counters.values.refusedCalls += 1
        if monitor.isWatched {
            monitor.showRefusal(of: String(decoding: task.prefix(256), as: UTF8.self), error, session)
        }
    }

    /// Counts and logs a reply for which no caller waits.
    func dropReply(
        _ what: @autoclosure () -> String, _ metadata: @autoclosure () -> Logger.Metadata,
        level: Logger.Level = .debug
    ) {
        counters.values.droppedReplies += 1
        log.log(level: level, "a reply was dropped: \(what())", metadata: metadata())
    }
}
