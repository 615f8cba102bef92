import ArgumentParser
import EventLoop
import Glibc

/// What SIGINT and SIGTERM do; and, to a command that has something to put away, the end of its terminal or of its
/// readers.
enum Interruption {
    /// Runs `body` in a Swift task that the first signal cancels; a second one ends the process immediately.
    ///
    /// - Parameter putsAway: whether `body` leaves things behind unless it comes to its end. Then SIGHUP cancels it
    ///   too, and so does output that no one reads any longer; elsewhere these end the process.
    /// - Throws: what `body` throws; after a signal the exit code of that signal, whatever `body` did.
    @LoopActor
    static func cancelling<T: Sendable>(
        puttingAway putsAway: Bool = false, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let task = Task { @concurrent in try await body() }
        let work = Work { task.cancel() }
        let signals = [SIGINT, SIGTERM] + (putsAway && !isIgnored(SIGHUP) ? [SIGHUP] : [])
        let watchers = try signals.map { signal in
            try SignalWatcher(signal) {
                // After a hangup no user is there to be impatient.
                if work.received != nil, signal != SIGHUP { exit(128 + signal) }
                work.cancel(because: signal)
            }
        }
        if putsAway {
            // So that writing fails, on any thread, and the process goes on to its end.
            signal(SIGPIPE, SIG_IGN)
            Screen.whenUnread { EventLoop.post { work.cancel(because: SIGPIPE) } }
        }
        let result = await task.result
        for watcher in watchers { watcher.close() }
        if let received = work.received { throw ExitCode(128 + received) }
        return try result.get()
    }

    /// What is cancelled, and why.
    @LoopActor
    private final class Work {
        private let stop: () -> Void
        /// The first signal.
        private(set) var received: Int32?

        init(_ stop: @escaping () -> Void) { self.stop = stop }

        func cancel(because signal: Int32) {
            received = received ?? signal
            stop()
        }
    }

    /// Whether the user that started the program wants it to outlive that signal, as nohup(1) does.
    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
