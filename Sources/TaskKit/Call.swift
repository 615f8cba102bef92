internal import CTaskPlugin
internal import Glibc
internal import Synchronization

/// One call of a task: its caller, and the operations that the task can use before it answers. May be stored and used
/// on any thread. After the call has ended, everything sent through it is dropped.
public struct Call: Sendable {
    let handle: trestle_call
    // Unretained because a runtime is never released (see `Plugin.export`), so a call costs no reference counts.
    unowned(unsafe) let runtime: PluginRuntime
    /// Set when the call is cancelled. `nil` for a raw task's call, which uses the table of raw calls.
    let cancelMark: CancelMark?
    private let flags: UInt32
    /// The time left when the task received the call; negative if there is no deadline.
    private let remainingNanoseconds: Int64
    /// The time of receipt, from the kernel's coarse clock (its last tick). Every call reads it, and an exact clock
    /// would take 1 % of a call.
    private let arrivalNanoseconds: Int64

    /// The caller.
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

    /// The time at which the daemon ends the call and cancels its task, or up to 4 ms earlier; `nil` if there is no
    /// deadline.
    public var deadline: ContinuousClock.Instant? { timeRemaining.map { .now + $0 } }

    /// The time left to the call now, or up to 4 ms less; zero after the deadline; `nil` if there is no deadline.
    public var timeRemaining: Duration? {
        guard remainingNanoseconds >= 0 else { return nil }
        let passed = Self.nanoseconds(CLOCK_MONOTONIC) - arrivalNanoseconds
        return .nanoseconds(max(0, remainingNanoseconds - passed))
    }

    /// Reads a clock of the system.
    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // Cannot fail: the clock exists, and the address is ours.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether the caller does not wait for the answer. The task must answer anyway: the answer ends the call. Set only
    /// in the daemon's own process; in a plugin process it is always false.
    public var isOneWay: Bool { flags & TRESTLE_REQUEST_ONE_WAY != 0 }

    /// Whether the caller requested progress. Otherwise `reportProgress` may still be called and does nothing.
    public var wantsProgress: Bool { flags & TRESTLE_REQUEST_PROGRESS != 0 }

    /// Whether the daemon has ended the call, or ``cancel()`` was called. The daemon ends a call when the caller
    /// cancels it or disconnects, or at its deadline. Unlike `Task.isCancelled` this is correct on every thread, and so
    /// also in `blocking` and in raw tasks.
    public var isCancelled: Bool {
        if let cancelMark { return cancelMark.isSet.load(ordering: .relaxed) }
        return runtime.rawCalls.isCancelled(handle)
    }

    /// Cancels the task of this call, as the daemon does when the answer is not needed any more. The value that the
    /// task then returns or throws is the answer. Does nothing if the call has been answered. Any thread.
    public func cancel() {
        let (runtime, handle) = (runtime, handle)
        runtime.host.onLoopThread { runtime.cancel(handle) }
    }

    /// Throws if the call was cancelled. Unlike `Task.checkCancellation` this is correct on every thread.
    ///
    /// - Throws: `CancellationError`, which becomes `call.cancelled`.
    public func checkCancelled() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }

    /// Sends an intermediate result, which the daemon numbers. Intermediate results arrive in the order of the calls of
    /// this method, and before the result. A slow reader may receive only the newest: for bytes, or for values that
    /// must all arrive, use a stream (`makeStream`). Never waits. Any thread.
    ///
    /// - Returns: Whether it was sent. It is not sent if the caller did not request progress, or if the value has no
    ///   JSON form, which is logged as a warning.
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

    /// Sends an intermediate result that is JSON already. Invalid JSON is dropped, with a warning in the log. Never
    /// waits. Any thread.
    ///
    /// - Returns: Whether the caller requested progress.
    @discardableResult
    public func reportProgress(raw value: RawSpan) -> Bool {
        guard wantsProgress else { return false }
        value.withUnsafeBytes { runtime.host.progress(handle, $0) }
        return true
    }

    /// Calls another task on behalf of this call's caller, without another check by the policy: the other task receives
    /// the same caller. When this call ends, the other call ends too. Any thread; code after the `await` continues on
    /// the executor of the code before it.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options.
    ///   - session: The session that must have registered the task; `nil` for any task.
    ///   - timeout: The deadline of the call; the task's own by default.
    ///   - onProgress: Called on the loop thread with each intermediate result. A value that is no `P`, or is longer
    ///     than 64 KiB, is skipped, with a line in the log.
    /// - Throws: The task's error; `task.not_found`, `permission.denied` and similar errors if the task was not called;
    ///   `call.cancelled` if this call was cancelled; `result.invalid` if the result is no `R`.
    public func call<R: Decodable & Sendable, P: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard, onProgress: @escaping @Sendable (P) -> Void
    ) async throws(BridgeError) -> R {
        try await sender.call(task, options, session: session, timeout: timeout, onProgress: onProgress)
    }

    /// Calls another task on behalf of this call's caller, without receiving its progress. Otherwise this behaves, and
    /// throws, as the method with `onProgress`.
    public func call<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: Timeout = .standard
    ) async throws(BridgeError) -> R {
        try await sender.call(task, options, session: session, timeout: timeout)
    }

    /// The daemon's log. Its lines name the call.
    public var log: PluginLog { PluginLog(host: runtime.host, call: handle) }

    /// Runs `body` on a thread where it may block, and waits for it without blocking the loop.
    ///
    /// The threads are few and shared with the daemon. Use them for short waits, such as reading a file. For work that
    /// takes long, or must not overlap, use a `BlockingThreads`.
    ///
    /// - Throws: The errors of `body`; `CancellationError` if the task was cancelled before `body` started.
    public func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await runtime.blocking(body)
    }

    /// The plugin's operations outside this call.
    public var plugin: PluginContext { PluginContext(runtime: runtime) }
}

/// A flag that reports the cancellation of a call to its other threads.
final class CancelMark: Sendable {
    let isSet = Atomic<Bool>(false)
}
