internal import CTaskPlugin

/// Where a call that the plugin makes goes, and in whose name.
struct BridgeRoute: Sendable {
    /// The call on whose behalf it is made; 0: the plugin's own.
    var parent: trestle_call
    var session: SessionID?
    var timeout: Timeout
}

/// A call that the plugin makes: from a task's `await` to the daemon and back.
///
/// `@unchecked`: the constants are set before it is handed to the loop thread, the variables are used only there.
final class OutgoingCall: @unchecked Sendable {  // loop thread; see above
    private let host: Host
    private let task: String
    private let options: [UInt8]
    private let route: BridgeRoute
    private let onProgress: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    private var handle: trestle_call = 0
    private var continuation: CheckedContinuation<Result<[UInt8], BridgeError>, Never>?

    init(
        _ task: String, _ options: [UInt8], _ route: BridgeRoute, host: Host,
        onProgress: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) {
        (self.host, self.task, self.options, self.route) = (host, task, options, route)
        self.onProgress = onProgress
    }

    /// Makes the call and waits for its end. Cancelling the Swift task cancels the call.
    func result() async -> Result<[UInt8], BridgeError> {
        if Task.isCancelled {
            let message = "the call of \(task) was not made: the one that wanted it had been cancelled"
            return .failure(BridgeError(.callCancelled, message, data: ["started": false]))
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                host.onLoopThread { self.start(continuation) }
            }
        } onCancel: {
            // Never at once, even on the loop thread: the handler runs inside Swift's bookkeeping of the task, and
            // ending the call would resume that very task.
            host.post { self.cancel() }
        }
    }

    private func start(_ continuation: CheckedContinuation<Result<[UInt8], BridgeError>, Never>) {
        self.continuation = continuation
        handle = Self.make(task, options, route, host) { call in
            // Kept alive by the daemon's pointer until `done`.
            call.context = Unmanaged.passRetained(self).toOpaque()
            // `!` in both: the context given above.
            if onProgress != nil {
                call.progress = { context, _, value in
                    Unmanaged<OutgoingCall>.fromOpaque(context!).takeUnretainedValue().onProgress?(value.buffer)
                }
            }
            call.done = { context, result, error in
                Unmanaged<OutgoingCall>.fromOpaque(context!).takeRetainedValue()
                    .end(error.map { .failure(BridgeError($0)) } ?? .success(Array(result.buffer)))
            }
        }
    }

    /// Makes a call whose end no one waits for. Loop thread.
    static func notify(_ task: String, _ options: [UInt8], _ route: BridgeRoute, _ host: Host) {
        _ = make(task, options, route, host) { _ in }
    }

    /// - Parameter complete: Adds who gets its progress and its end.
    private static func make(
        _ task: String, _ options: [UInt8], _ route: BridgeRoute, _ host: Host,
        _ complete: (inout trestle_outgoing_call) -> Void
    ) -> trestle_call {
        var task = task
        return task.withUTF8 { task in
            options.withUnsafeBytes { options in
                var call = trestle_outgoing_call()
                call.size = UInt32(MemoryLayout<trestle_outgoing_call>.size)
                call.abi = TRESTLE_ABI
                call.parent = route.parent
                call.task = trestle_bytes(UnsafeRawBufferPointer(task))
                call.options = trestle_bytes(options)
                call.session = route.session?.rawValue ?? 0
                call.timeout_ns = route.timeout.nanoseconds
                complete(&call)
                return host.call(&call)
            }
        }
    }

    private func end(_ result: Result<[UInt8], BridgeError>) {
        continuation?.resume(returning: result)
        continuation = nil
    }

    private func cancel() {
        // Without a continuation the call has ended.
        if continuation != nil { host.cancel(handle) }
    }
}

extension PluginRuntime {
    func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try Task.checkCancellation()
        let scope = BlockingScope()
        return try await withTaskCancellationHandler {
            try await withCheckedContinuation { continuation in
                BlockingJob({ try scope.run(body) }, continuation).submit(to: host)
            }.get()
        } onCancel: {
            scope.cancel()
        }
    }

    /// Does work that throws nothing on one of the host's threads, also where the task has been cancelled.
    func beside<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        let done: Result<T, any Error> = await withCheckedContinuation { continuation in
            BlockingJob(work, continuation).submit(to: host)
        }
        guard case .success(let value) = done else { preconditionFailure("Work that throws nothing failed.") }
        return value
    }
}

/// Work on its way to one of the host's threads and back.
///
/// `@unchecked`: the host calls `work` and `done` one after the other, and only they touch what changes.
private final class BlockingJob: @unchecked Sendable {  // one thread after the other; see above
    private let work: () -> Void
    private let done: () -> Void

    init<T: Sendable>(
        _ body: @escaping @Sendable () throws -> T, _ continuation: CheckedContinuation<Result<T, any Error>, Never>
    ) {
        var result: Result<T, any Error>?
        work = { result = Result { try body() } }
        // `!`: `done` comes after `work`. Here and not in `work`, so that the task resumes without a wake-up more.
        done = { continuation.resume(returning: result!) }
    }

    func submit(to host: Host) {
        host.blocking(
            { Unmanaged<BlockingJob>.fromOpaque($0!).takeUnretainedValue().work() },  // `!`: the pointer given below
            done: { Unmanaged<BlockingJob>.fromOpaque($0!).takeRetainedValue().done() },
            Unmanaged.passRetained(self).toOpaque())
    }
}
