import CCurl
import Synchronization
import TaskKit

/// The threads of all users who have transfers. Any thread.
final class Network: Sendable {
    /// The maximum number of users with a thread. A further user gets `busy` until an idle thread has ended.
    static let maximumThreads = 64

    private struct State {
        var threads: [UInt32: NetworkThread] = [:]
        /// The number of threads that have not ended yet.
        var running = 0
        var lastNumber: UInt64 = 0
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let metrics: @Sendable () -> FetchMetrics

    init(metrics: @escaping @Sendable () -> FetchMetrics = { FetchMetrics() }) { self.metrics = metrics }

    /// Whether libcurl was initialized, which happens once in a process.
    private static let hasStarted = ccurl_start()

    /// Begins a transfer.
    ///
    /// - Parameters:
    ///   - user: The user whose connections are used.
    ///   - post: If given, the transfer begins after the current turn of the loop.
    /// - Throws: `busy`, if too many users have a thread.
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
                guard !state.isStopped else { throw BridgeError(.pluginUnavailable, "the plugin is stopping") }
                state.lastNumber += 1
                if let thread = state.threads[user] { return (thread, state.lastNumber) }
                guard state.running < Self.maximumThreads else {
                    throw BridgeError(
                        .busy, "\(Self.maximumThreads) users are fetching; try again in a moment",
                        data: ["started": false], isTransient: true, retryAfter: .seconds(1))
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

    /// Ends all transfers and threads, and waits for them. No further transfer can begin.
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

/// The reader's side of a transfer. One reader. The transfer ends when the last reference to this is released.
final class RunningTransfer: Sendable {
    private let number: UInt64
    private let channel: ResponseChannel
    private let thread: NetworkThread

    init(_ number: UInt64, _ channel: ResponseChannel, _ thread: NetworkThread) {
        (self.number, self.channel, self.thread) = (number, channel, thread)
    }

    deinit { cancel() }

    /// Ends the transfer. Any thread.
    func cancel() {
        // An unnecessary wake-up of the thread costs a third of a short request.
        if !channel.isOver { thread.submit(.cancel(number)) }
    }

    /// Returns the next event; the head is the first. It must not be called after the end.
    ///
    /// - Throws: The error of the transfer; `call.cancelled` if the Swift task is cancelled.
    func next() async throws(BridgeError) -> ResponseChannel.Event {
        while true {
            if let (event, hasRoom) = try channel.take() {
                if hasRoom { thread.submit(.goOn(number)) }
                return event
            }
            await wait()
        }
    }

    /// Makes the network's thread write the body into a pipe until the body ends. Afterwards ``next()`` returns the
    /// bytes that are not in the pipe, and the end.
    ///
    /// - Parameter pipe: The descriptor, which does not block. It is no longer used when this returns.
    /// - Returns: The number of bytes written into the pipe.
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
