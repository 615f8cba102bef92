internal import CTaskPlugin

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

    /// Runs work that does not throw on one of the host's threads, even if the task has been cancelled.
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
/// `@unchecked`: the host calls `work` and `done` one after the other, and only they use the mutable state.
private final class BlockingJob: @unchecked Sendable {  // one thread after the other; see above
    private let work: () -> Void
    private let done: () -> Void

    init<T: Sendable>(
        _ body: @escaping @Sendable () throws -> T, _ continuation: CheckedContinuation<Result<T, any Error>, Never>
    ) {
        var result: Result<T, any Error>?
        work = { result = Result { try body() } }
        // `!`: `done` runs after `work`. The task resumes here and not in `work`, which saves one wake-up.
        done = { continuation.resume(returning: result!) }
    }

    func submit(to host: Host) {
        host.blocking(
            { Unmanaged<BlockingJob>.fromOpaque($0!).takeUnretainedValue().work() },  // `!`: the pointer given below
            done: { Unmanaged<BlockingJob>.fromOpaque($0!).takeRetainedValue().done() },
            Unmanaged.passRetained(self).toOpaque())
    }
}
