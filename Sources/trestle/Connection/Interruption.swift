import ArgumentParser
import EventLoop
import Glibc

/// The handling of SIGINT and SIGTERM. For a command that must clean up, also of SIGHUP and of output without a reader.
enum Interruption {
    /// Runs `body` in a Swift task that the first signal cancels; a second one ends the process immediately.
    ///
    /// - Parameter putsAway: Whether `body` must run to its end to clean up. If so, SIGHUP and output without a reader
    ///   also cancel it; otherwise these end the process.
    /// - Throws: The error of `body`; after a signal, the exit code of that signal regardless of the result of `body`;
    ///   ``Failure/call`` if standard output cannot be written, which also cancels the Swift task.
    @LoopActor
    static func cancelling<T: Sendable>(
        puttingAway putsAway: Bool = false, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let task = Task { @concurrent in try await body() }
        let work = Work { task.cancel() }
        let signals = [SIGINT, SIGTERM] + (putsAway && !isIgnored(SIGHUP) ? [SIGHUP] : [])
        let watchers = try signals.map { signal in
            try SignalWatcher(signal) {
                // SIGHUP may be repeated without a second request by the user.
                if work.received != nil, signal != SIGHUP { exit(128 + signal) }
                work.cancel(because: signal)
            }
        }
        if putsAway {
            // Makes writing fail on any thread instead of ending the process.
            signal(SIGPIPE, SIG_IGN)
        }
        Screen.whenLost { loss in
            EventLoop.post {
                switch loss {
                case .unread: if putsAway { work.cancel(because: SIGPIPE) }
                case .failed: task.cancel()
                }
            }
        }
        let result = await task.result
        for watcher in watchers { watcher.close() }
        if let received = work.received { throw ExitCode(128 + received) }
        if Screen.hasFailed { throw Failure.call }
        return try result.get()
    }

    /// The work to cancel, and the signal.
    @LoopActor
    private final class Work {
        private let stop: () -> Void
        /// The first signal; `nil` if none has arrived.
        private(set) var received: Int32?

        init(_ stop: @escaping () -> Void) { self.stop = stop }

        func cancel(because signal: Int32) {
            received = received ?? signal
            stop()
        }
    }

    /// Returns whether the signal was already ignored when the program was started, as nohup(1) does.
    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
