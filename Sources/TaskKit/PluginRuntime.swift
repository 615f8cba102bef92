internal import CTaskPlugin
internal import Synchronization

/// The state of a running plugin: its parts, its host and its running calls. Created by `Plugin.export` and never
/// released.
///
/// `@unchecked`: `parts`, `executor` and `rawCalls` are constants that are themselves thread-safe. `host` and
/// `startOptions` are set on the loop thread before any code that reads them exists. The rest is used on the loop
/// thread only.
final class PluginRuntime: @unchecked Sendable {  // constants, and the loop thread; see above
    let parts: PluginParts
    let executor = PluginExecutor()
    let rawCalls = RawCallTable()

    /// `!`: the daemon calls `attach`, which sets it, before every other function.
    private(set) var host: Host!
    private(set) var startOptions = StartOptions()

    /// The calls of typed tasks, and the hooks, that are suspended.
    private var running: [trestle_call: CallTask] = [:]
    /// The call or hook whose Swift task is on top of the stack, up to its first suspension. Its `outer` links lead to
    /// those that it interrupted. Most calls end there and are never added to `running`.
    @exclusivity(unchecked) private var starting: CallTask?
    /// For each typed task, the Swift tasks that wait for its next call.
    @exclusivity(unchecked) private var idle: [[CallTask]]
    /// The maximum number of Swift tasks that wait for one task; the others end.
    private static let maximumIdle = 16
    /// The functions that begin the calls of each task. Not retained for a call, because `parts` holds them.
    let starts: [Unmanaged<TaskStart>]
    private let callers = CallerCache()
    /// Creates the readers in options. All calls share it, so a call needs no additional allocation.
    private let streams = DecodedStreams()
    private let streamsInDecoder: [CodingUserInfoKey: Any]

    init(_ parts: PluginParts) {
        self.parts = parts
        starts = parts.tasks.map { .passUnretained($0.start) }
        idle = Array(repeating: [], count: parts.tasks.count)
        streamsInDecoder = [.streamReaders: streams]
    }

    func attach(_ host: Host) {
        self.host = host
        executor.attach(host)
        streams.attach(self)
    }

    /// Stores the options of `start` and `launch`.
    func keep(startOptions: StartOptions) {
        self.startOptions = startOptions
    }

    func caller(_ description: UnsafePointer<trestle_caller>) -> Caller {
        callers.caller(description)
    }

    func makeCall(_ request: UnsafePointer<trestle_request>, cancelMark: CancelMark?) -> Call {
        guard let description = request.pointee.caller else {
            // A call of the daemon's own.
            let caller = Caller(session: 0, uid: 0, gid: 0, pid: 0, isTrusted: true)
            return Call(request, caller: caller, runtime: self, cancelMark: cancelMark)
        }
        return Call(request, caller: callers.caller(description), runtime: self, cancelMark: cancelMark)
    }

    /// Runs a call of a typed task in one of its Swift tasks, which answers it with `succeed` or `fail`. It runs up to
    /// its first suspension before this returns.
    ///
    /// - Parameter start: Starts a Swift task if none is idle. It creates the task together with its closure, which
    ///   avoids three more closures around it.
    func perform(_ request: UnsafePointer<trestle_request>, _ start: (CallTask) -> Task<Void, Never>) {
        if let task = idle[Int(request.pointee.number)].popLast() {
            begin(task) { task.serve(request, on: executor) }
        } else {
            let task = CallTask(request)
            begin(task) { task.task = start(task) }
        }
    }

    func begin(_ task: CallTask, _ start: () -> Void) {
        task.outer = starting
        starting = task
        start()
        starting = task.outer.take()
        if task.handle == 0 { return }
        running[task.handle] = task
        // The call was cancelled while it ran up to its first suspension. `cancel` did not cancel the Swift task then,
        // because the call could still end there.
        if task.mark.isSet.load(ordering: .relaxed) { task.task?.cancel() }
    }

    /// Keeps a Swift task whose call has been answered for the next call of the same typed task. Returns false if the
    /// Swift task should end.
    func keep(_ task: CallTask, of index: Int) -> Bool {
        // The cancellation of a Swift task cannot be reversed.
        guard idle[index].count < Self.maximumIdle, !Task.isCancelled else { return false }
        idle[index].append(task)
        return true
    }

    /// Runs a hook as the Swift task of a call, and answers `{}` when it is done.
    func perform(_ request: UnsafePointer<trestle_request>, hook body: @escaping @Sendable () async throws -> Void) {
        perform(request) {
            try await body()
            return JSON.object([:])
        }
    }

    /// Runs a hook as the Swift task of a call, and answers with its result.
    func perform<Answer: Encodable & Sendable>(
        _ request: UnsafePointer<trestle_request>, answer body: @escaping @Sendable () async throws -> Answer
    ) {
        let handle = request.pointee.call
        let task = CallTask(request)
        begin(task) {
            task.task = Task.immediate(executorPreference: executor) {
                do {
                    self.succeed(handle, try await body())
                } catch {
                    self.fail(handle, thrown: error)
                }
            }
        }
    }

    /// Returns the options of a call; `nil` if they do not fit, in which case the call has been answered with that
    /// error. Loop thread.
    func options<Options: Decodable>(_ type: Options.Type, of task: CallTask) -> Options? {
        do throws(JSONMismatch) {
            return try decode(type, from: task.request.pointee.options.buffer, for: task.handle)
        } catch {
            let handle = task.handle
            forget(handle)
            host.fail(handle, BridgeError(error))
            return nil
        }
    }

    /// Decodes the options of a call, and takes their streams for that call. Loop thread.
    private func decode<Options: Decodable>(
        _ type: Options.Type, from options: UnsafeRawBufferPointer, for handle: trestle_call
    ) throws(JSONMismatch) -> Options {
        // Decoding may take a stream, which may run other calls.
        let outer = streams.call
        streams.call = handle
        defer { streams.call = outer }
        return try JSONCoding.decode(type, from: options, userInfo: streamsInDecoder)
    }

    /// Answers a call of an immediate task. Loop thread, inside `rawCalls.run`.
    func answer<Options: Decodable, Result: Encodable>(
        _ handle: trestle_call, _ options: UnsafeRawBufferPointer, _ run: (Options) throws -> Result
    ) {
        do {
            let result = try run(decode(Options.self, from: options, for: handle))
            rawCalls.end(handle, on: host)
            reply(handle, result)
        } catch {
            rawCalls.end(handle, on: host)
            host.fail(handle, BridgeError(thrown: error))
        }
    }

    /// Answers a call with the value that its task returned. Loop thread.
    func succeed(_ handle: trestle_call, _ result: some Encodable) {
        forget(handle)
        reply(handle, result)
    }

    private func reply(_ handle: trestle_call, _ result: some Encodable) {
        do throws(JSONEncodingError) {
            try JSONCoding.withText(of: result) { host.reply(handle, $0) }
        } catch {
            host.fail(handle, BridgeError(.internal, "the result cannot be written as JSON: \(error)"))
        }
    }

    /// Answers a call with the error that its task threw. Loop thread.
    func fail(_ handle: trestle_call, thrown error: any Error) {
        forget(handle)
        host.fail(handle, BridgeError(thrown: error))
    }

    /// Removes a call that is about to be answered.
    func forget(_ handle: trestle_call) {
        if let starting, starting.handle == handle {
            starting.handle = 0
        } else {
            running[handle] = nil
        }
    }

    func cancel(_ handle: trestle_call) {
        if let call = running[handle] {
            call.mark.isSet.store(true, ordering: .relaxed)
            call.task?.cancel()
        } else if let call = startingCall(handle) {
            call.mark.isSet.store(true, ordering: .relaxed)
        } else {
            rawCalls.cancel(handle)
        }
    }

    private func startingCall(_ handle: trestle_call) -> CallTask? {
        var call = starting
        while let tried = call, tried.handle != handle { call = tried.outer }
        return call
    }
}

extension BridgeError {
    /// Creates the error that the caller receives for an error that a task threw.
    init(thrown error: any Error) {
        switch error {
        case let error as BridgeError: self = error
        case let error as JSONMismatch: self.init(error)
        case is CancellationError: self.init(.callCancelled, "the call was cancelled", data: ["started": true])
        default: self.init(unforeseen: error, "the task failed")
        }
    }

    /// Creates an error whose message was not written for callers.
    init(unforeseen error: any Error, _ what: String) {
        self.init(.internal, "\(what): \(error)")
        isUnforeseen = true
    }
}
