import CCurl
import Synchronization
import TaskKit

/// The threads of all users at work. Any thread.
final class Network: Sendable {
    /// How many users may be at work in parallel. One more takes the place of one whose thread has nothing to do.
    static let maximumThreads = 64

    private struct State {
        var threads: [UInt32: NetworkThread] = [:]
        /// Threads that have not ended yet.
        var running = 0
        var lastNumber: UInt64 = 0
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let metrics: @Sendable () -> FetchMetrics

    init(metrics: @escaping @Sendable () -> FetchMetrics = { FetchMetrics() }) { self.metrics = metrics }

    /// libcurl, which is initialized once in a process.
    private static let hasStarted = ccurl_start()

    /// Begins a transfer.
    ///
    /// - Parameters:
    ///   - user: On whose connections.
    ///   - post: Where it is given, the transfer begins when the loop has done what it does now.
    /// - Throws: `busy`, where there are too many users at work.
    func start(
        _ request: TransferRequest, for user: UInt32, post: NetworkThread.Post? = nil
    ) throws(BridgeError) -> RunningTransfer {
        guard Self.hasStarted else { throw BridgeError(.internal, "libcurl cannot be initialized") }
        let channel = ResponseChannel()
        while true {
            let (thread, number) = try thread(of: user)
            if thread.submit(.start(number, request, channel), post: post) {
                return RunningTransfer(number, channel, thread)
            }
            forget(thread, of: user)
        }
    }

    private func thread(of user: UInt32) throws(BridgeError) -> (NetworkThread, UInt64) {
        try state.withLock { state in
            Result { () throws(BridgeError) in
                guard !state.isStopped else { throw BridgeError(.pluginUnavailable, "the plugin stops") }
                state.lastNumber += 1
                if let thread = state.threads[user] { return (thread, state.lastNumber) }
                guard state.running < Self.maximumThreads else {
                    throw BridgeError(
                        .busy, "\(Self.maximumThreads) users are fetching; try again in a moment", isTransient: true,
                        retryAfter: .seconds(1))
                }
                let thread = try NetworkThread("fetch-\(user)") { [weak self] in self?.end($0, of: user) }
                state.threads[user] = thread
                state.running += 1
                metrics().threads.set(state.running)
                return (thread, state.lastNumber)
            }
        }.get()
    }

    private func forget(_ thread: NetworkThread, of user: UInt32) {
        state.withLock { state in
            if state.threads[user] === thread { state.threads[user] = nil }
        }
    }

    private func end(_ thread: NetworkThread, of user: UInt32) {
        forget(thread, of: user)
        let waiters = state.withLock { state in
            state.running -= 1
            metrics().threads.set(state.running)
            guard state.running == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Ends all transfers and threads, and waits for them. No transfer begins any more.
    func stop() async {
        let threads = state.withLock { state in
            state.isStopped = true
            return state.threads
        }
        for (_, thread) in threads { thread.submit(.stop) }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.running == 0 { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

/// A transfer as its reader sees it. One reader; it ends where nobody holds this any more.
final class RunningTransfer: Sendable {
    private let number: UInt64
    private let channel: ResponseChannel
    private let thread: NetworkThread

    init(_ number: UInt64, _ channel: ResponseChannel, _ thread: NetworkThread) {
        (self.number, self.channel, self.thread) = (number, channel, thread)
    }

    deinit { cancel() }

    /// Ends it. Any thread.
    func cancel() {
        // To wake the thread up for nothing costs as much as a third of a short request.
        if !channel.isOver { thread.submit(.cancel(number)) }
    }

    /// What comes next; the head first. After the end, nothing may be asked for.
    ///
    /// - Throws: Why it failed; `call.cancelled` where the Swift task is cancelled.
    func next() async throws(BridgeError) -> ResponseChannel.Event {
        while true {
            if let (event, hasRoom) = try channel.take() {
                if hasRoom { thread.submit(.goOn(number)) }
                return event
            }
            await wait()
        }
    }

    /// Has the network's thread write the body into a pipe, up to its end. What is not in the pipe then, and the end,
    /// comes by ``next()``.
    ///
    /// - Parameter pipe: The descriptor, which does not block. It is not used any more when this returns.
    /// - Returns: How many bytes the pipe has taken.
    func pour(into pipe: Int32) async -> Int {
        channel.beginPouring()
        if !channel.isOver { thread.submit(.pour(number, into: pipe)) }
        await wait()
        return channel.pouredBytes
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await channel.wait()
        } onCancel: {
            cancel()
        }
    }
}
