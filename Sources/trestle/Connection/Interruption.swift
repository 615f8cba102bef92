import ArgumentParser
import EventLoop
import Glibc

/// What SIGINT and SIGTERM do.
enum Interruption {
    /// Runs `body` in a Swift task that the first signal cancels; a second one ends the process at once.
    /// - Throws: what `body` throws; after a signal the exit code of that signal, whatever `body` did.
    @LoopActor
    static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { @concurrent in try await body() }
        var received: Int32?
        let watchers = try [SIGINT, SIGTERM].map { signal in
            try SignalWatcher(signal) {
                if received != nil { exit(128 + signal) }
                received = signal
                task.cancel()
            }
        }
        let result = await task.result
        for watcher in watchers { watcher.close() }
        if let received { throw ExitCode(128 + received) }
        try result.get()
    }
}
