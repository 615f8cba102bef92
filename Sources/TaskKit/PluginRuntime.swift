internal import CTaskPlugin
internal import Synchronization

/// A plugin at work: its parts, its host, and the calls that are running. Made by `Plugin.export` and never released.
///
/// `@unchecked`: `parts`, `executor` and `rawCalls` are constants that are safe by themselves; `host` and
/// `startOptions` are set on the loop thread before anything that could read them exists; the rest is used on the loop
/// thread only.
final class PluginRuntime: @unchecked Sendable {
    let parts: PluginParts
    let executor = PluginExecutor()
    let rawCalls = RawCallTable()

    /// `!`: `attach` sets it, and comes before every other call of the daemon.
    private(set) var host: Host!
    private(set) var startOptions = StartOptions()

    private struct Running {
        var mark: CancelMark
        var task: Task<Void, Never>
    }

    /// The calls of typed tasks, and the hooks, that wait for something.
    private var running: [trestle_call: Running] = [:]

    /// A call whose task is on the stack, up to its first suspension. Most end there and are never entered in `running`.
    private struct Starting {
        /// 0: answered.
        var handle: trestle_call
        let mark: CancelMark
    }

    /// From outside to inside: a reply may run other plugins, and one of them may call this one.
    private var starting: [Starting] = []
    /// The mark of a call that ended without being cancelled or kept: the next one's.
    private var spareMark: CancelMark?
    private var callers = CallerCache()

    init(_ parts: PluginParts) {
        self.parts = parts
    }

    func attach(_ host: Host) {
        self.host = host
        executor.attach(host)
    }

    /// Keeps what `start` and `launch` say about the plugin's surroundings.
    func keep(startOptions: StartOptions) {
        self.startOptions = startOptions
    }

    func caller(_ description: UnsafePointer<trestle_caller>) -> Caller {
        callers.caller(description)
    }

    func makeCall(_ request: UnsafePointer<trestle_request>, cancelMark: CancelMark?) -> Call {
        // A request without a caller is the daemon's own.
        let caller =
            request.pointee.caller.map { self.caller($0) }
            ?? Caller(session: 0, uid: 0, gid: 0, pid: 0, isTrusted: true)
        return Call(request, caller: caller, runtime: self, cancelMark: cancelMark)
    }

    /// Runs the Swift task of the call `handle`, which answers it with `succeed` or `fail`.
    ///
    /// - Parameter start: Starts the task, with what tells it that the call was cancelled. It runs up to its first
    ///   suspension before this returns. That the task is made there, in one piece with its closure, spares three more
    ///   around it.
    func perform(_ handle: trestle_call, _ start: (CancelMark) -> Task<Void, Never>) {
        var mark = spareMark.take() ?? CancelMark()
        starting.append(Starting(handle: handle, mark: mark))
        let task = start(mark)
        if starting.removeLast().handle == 0 {
            // Nobody holds on to a mark that is known here only.
            if isKnownUniquelyReferenced(&mark), !mark.isSet.load(ordering: .relaxed) { spareMark = mark }
            return
        }
        running[handle] = Running(mark: mark, task: task)
        // Cancelled while it ran up to its first suspension, when there was no task to cancel.
        if mark.isSet.load(ordering: .relaxed) { task.cancel() }
    }

    /// Runs a hook as the Swift task of the call `handle`, and answers that it is done.
    func perform(_ handle: trestle_call, hook body: @escaping @Sendable () async throws -> Void) {
        perform(handle) { _ in
            Task.immediate(executorPreference: executor) {
                do {
                    try await body()
                    self.succeed(handle, Done())
                } catch {
                    self.fail(handle, thrown: error)
                }
            }
        }
    }

    /// Answers a call with what its task returned. Loop thread.
    func succeed(_ handle: trestle_call, _ result: some Encodable) {
        forget(handle)
        do throws(JSONEncodingError) {
            try JSONCoding.withText(of: result) { host.reply(handle, $0) }
        } catch {
            host.fail(handle, BridgeError(.internal, "The result cannot be written as JSON: \(error)"))
        }
    }

    /// Answers a call with what its task threw. Loop thread.
    func fail(_ handle: trestle_call, thrown error: any Error) {
        forget(handle)
        host.fail(handle, BridgeError(thrown: error))
    }

    /// A call is about to be answered.
    private func forget(_ handle: trestle_call) {
        if let last = starting.indices.last, starting[last].handle == handle {
            starting[last].handle = 0
        } else {
            running[handle] = nil
        }
    }

    func cancel(_ handle: trestle_call) {
        if let call = running[handle] {
            call.mark.isSet.store(true, ordering: .relaxed)
            call.task.cancel()
        } else if let call = starting.last(where: { $0.handle == handle }) {
            call.mark.isSet.store(true, ordering: .relaxed)
        } else {
            rawCalls.cancel(handle)
        }
    }
}

/// The result of what has nothing to tell but that it is done: `{}`.
private struct Done: Encodable, Sendable {}

extension BridgeError {
    /// What the caller is told about an error that a task threw.
    init(thrown error: any Error) {
        switch error {
        case let error as BridgeError: self = error
        case let error as JSONMismatch: self.init(error)
        case is CancellationError: self.init(.callCancelled, "The call was cancelled.", data: ["started": true])
        default: self.init(.internal, "The task failed: \(error)")
        }
    }
}
