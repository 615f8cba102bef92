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
        /// Nil while the task runs up to its first suspension.
        var task: Task<Void, Never>?
    }

    /// The calls of typed tasks, and the hooks, that have not answered.
    private var running: [trestle_call: Running] = [:]
    private var callers = CallerCache()
    /// What the last result was written into, kept for its room.
    private var scratch: [UInt8] = []

    /// Room that is not kept once a result has needed it, in bytes.
    private static let maximumScratchBytes = 64 * 1024

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

    /// Runs `body` as the Swift task of the call `handle`, and answers with what it returns or throws. It runs up to
    /// its first suspension before this returns.
    func perform<R: Encodable & Sendable>(
        _ handle: trestle_call, _ mark: CancelMark, _ body: @escaping @Sendable () async throws -> R
    ) {
        running[handle] = Running(mark: mark)
        let task = Task.immediate(executorPreference: executor) {
            do {
                self.finish(handle, try await body())
            } catch {
                self.running[handle] = nil
                self.host.fail(handle, BridgeError(thrown: error))
            }
        }
        guard running[handle] != nil else { return }
        running[handle]?.task = task
        // Cancelled while it ran up to its first suspension, when there was no task to cancel.
        if mark.isSet.load(ordering: .relaxed) { task.cancel() }
    }

    private func finish(_ handle: trestle_call, _ result: some Encodable) {
        running[handle] = nil
        // Taken out while it is in use: the reply may run other plugins, and one of them may call this one.
        var bytes = scratch
        scratch = []
        bytes.removeAll(keepingCapacity: true)
        do throws(JSONEncodingError) {
            try JSONCoding.encode(result, to: &bytes)
            bytes.withUnsafeBytes { host.reply(handle, $0) }
        } catch {
            host.fail(handle, BridgeError(.internal, "The result cannot be written as JSON: \(error)"))
        }
        if bytes.capacity <= Self.maximumScratchBytes { scratch = bytes }
    }

    func cancel(_ handle: trestle_call) {
        guard let call = running[handle] else { return rawCalls.cancel(handle) }
        call.mark.isSet.store(true, ordering: .relaxed)
        call.task?.cancel()
    }
}

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
