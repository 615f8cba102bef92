internal import CTaskPlugin
internal import Glibc
internal import Synchronization

/// One call of a task: who makes it, and what the task can do on the way to its answer. May be kept and used on any
/// thread; once the call has ended, what is sent through it goes nowhere.
public struct Call: Sendable {
    let handle: trestle_call
    // Unretained because a runtime is never released (see `Plugin.export`): a call costs no reference counts.
    unowned(unsafe) let runtime: PluginRuntime
    /// Set when the call is cancelled. Nil in a raw task's call, which asks the table of raw calls.
    let cancelMark: CancelMark?
    private let flags: UInt32
    /// What was left when the task got the call; negative: no deadline.
    private let remainingNanoseconds: Int64
    /// When that was, by the tick of the kernel's clock before: each call has one, and an exact look takes 1 % of it.
    private let arrivalNanoseconds: Int64

    /// Who makes the call.
    public let caller: Caller

    init(_ request: UnsafePointer<trestle_request>, caller: Caller, runtime: PluginRuntime, cancelMark: CancelMark?) {
        self.handle = request.pointee.call
        self.runtime = runtime
        self.cancelMark = cancelMark
        remainingNanoseconds = request.pointee.time_remaining_ns
        arrivalNanoseconds = remainingNanoseconds < 0 ? 0 : Self.nanoseconds(CLOCK_MONOTONIC_COARSE)
        self.flags = request.pointee.flags
        self.caller = caller
    }

    /// When the daemon ends the call and cancels its task, or up to 4 ms before; nil: never.
    public var deadline: ContinuousClock.Instant? { timeRemaining.map { .now + $0 } }

    /// The time that is left to the call now, or up to 4 ms less, zero once it has passed; nil: no deadline.
    public var timeRemaining: Duration? {
        guard remainingNanoseconds >= 0 else { return nil }
        let passed = Self.nanoseconds(CLOCK_MONOTONIC) - arrivalNanoseconds
        return .nanoseconds(max(0, remainingNanoseconds - passed))
    }

    /// A clock of the system's.
    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // Cannot fail: the clock exists, and the address is ours.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// No one waits for the answer. It is wanted all the same: it ends the call. Known in the daemon's own process; in
    /// one of the plugin's own it is always false.
    public var isOneWay: Bool { flags & TRESTLE_REQUEST_ONE_WAY != 0 }

    /// The caller asked for progress. `reportProgress` may be called without it, and does nothing then.
    public var wantsProgress: Bool { flags & TRESTLE_REQUEST_PROGRESS != 0 }

    /// The daemon has ended the call, by the caller's word, its deadline or its leaving, or ``cancel()`` was called.
    /// Unlike `Task.isCancelled` it is right on every thread, so also in `blocking` and in raw tasks.
    public var isCancelled: Bool {
        if let cancelMark { return cancelMark.isSet.load(ordering: .relaxed) }
        return runtime.rawCalls.isCancelled(handle)
    }

    /// Cancels the task of this call, as the daemon does where nobody waits for its answer any more. What it returns or
    /// throws then is the answer. Nothing where it has answered. Any thread.
    public func cancel() {
        let (runtime, handle) = (runtime, handle)
        runtime.host.onLoopThread { runtime.cancel(handle) }
    }

    /// Throws where the daemon has ended the call. Unlike `Task.checkCancellation` it is right on every thread.
    ///
    /// - Throws: `CancellationError`, which becomes `call.cancelled`.
    public func checkCancelled() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Sends an intermediate result, which the daemon numbers. Their order is that of the calls of this method, and
    /// they come before the result; a slow reader may get the newest only: bytes, or values that all have to arrive, go
    /// as a stream (`makeStream`). Never waits. Any thread.
    ///
    /// - Returns: Whether it was sent. It is not where the caller wants no progress, and where the value has no JSON;
    ///   then the log has a warning.
    @discardableResult
    public func reportProgress(_ value: some Encodable) -> Bool {
        guard wantsProgress else { return false }
        do throws(JSONEncodingError) {
            let bytes = try JSONCoding.encode(value)
            bytes.withUnsafeBytes { runtime.host.progress(handle, $0) }
            return true
        } catch {
            log.warning("a progress value of type \(type(of: value)) was not sent: \(error)")
            return false
        }
    }

    /// Sends an intermediate result that is JSON already. What is no JSON is dropped, with a warning in the log. Never
    /// waits. Any thread.
    ///
    /// - Returns: Whether the caller wants progress.
    @discardableResult
    public func reportProgress(raw value: RawSpan) -> Bool {
        guard wantsProgress else { return false }
        value.withUnsafeBytes { runtime.host.progress(handle, $0) }
        return true
    }

    /// Calls another task on behalf of this call's caller, which the policy is not asked about again: the task sees
    /// that caller as its own. When this call ends, so does the other. Any thread; what follows the `await` runs where
    /// it would have run before.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options.
    ///   - session: Only a task that this session registered; nil: any.
    ///   - timeout: The deadline of the call; by default the task's own.
    ///   - onProgress: Called on the loop thread with each intermediate result. One that is no `P`, or has more than
    ///     64 KiB, is skipped, with a line in the log.
    /// - Throws: What the task answered; `task.not_found`, `permission.denied` and the like where it was not called;
    ///   `call.cancelled` where this call was cancelled; `reply.invalid` where the result is no `R`.
    public func call<R: Decodable & Sendable, P: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard, onProgress: @escaping @Sendable (P) -> Void
    ) async throws(BridgeError) -> R {
        try await sender.call(task, options, session: session, timeout: timeout, onProgress: onProgress)
    }

    /// Calls another task on behalf of this call's caller, with no interest in its progress; otherwise, and in what it
    /// throws, as the other.
    public func call<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard
    ) async throws(BridgeError) -> R {
        try await sender.call(task, options, session: session, timeout: timeout)
    }

    /// The daemon's log; the lines name the call.
    public var log: PluginLog { PluginLog(host: runtime.host, call: handle) }

    /// Runs `body` on a thread where it may block, and waits for it without blocking the loop.
    ///
    /// The threads are few and shared with the daemon: for short waits, such as reading a file. What takes long, or
    /// must not overlap, belongs on a `BlockingThreads`.
    ///
    /// - Throws: What `body` throws; `CancellationError` where the task was cancelled before this began.
    public func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await runtime.blocking(body)
    }

    /// What the plugin can do apart from this call.
    public var plugin: PluginContext { PluginContext(runtime: runtime) }
}

/// Shows a call's other threads that it was cancelled.
final class CancelMark: Sendable {
    let isSet = Atomic<Bool>(false)
}
