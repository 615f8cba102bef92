internal import CTaskPlugin
internal import Synchronization

/// One call of a task: who makes it, and what the task can do on the way to its answer. May be kept and used on any
/// thread; once the call has ended, what is sent through it goes nowhere.
public struct Call: Sendable {
    let handle: trestle_call
    // Unretained because a runtime is never released (see `Plugin.export`): a call costs no reference counts.
    unowned(unsafe) let runtime: PluginRuntime
    /// Set when the call is cancelled. Nil in a raw task's call, which asks the table of raw calls.
    let cancelMark: CancelMark?
    private let timeoutNanoseconds: Int64
    private let flags: UInt32

    /// Who makes the call.
    public let caller: Caller

    init(_ request: UnsafePointer<trestle_request>, caller: Caller, runtime: PluginRuntime, cancelMark: CancelMark?) {
        self.handle = request.pointee.call
        self.runtime = runtime
        self.cancelMark = cancelMark
        self.timeoutNanoseconds = request.pointee.timeout_ns
        self.flags = request.pointee.flags
        self.caller = caller
    }

    /// The time that was left to the call when the task got it; nil: no deadline. Past it the daemon ends the call and
    /// cancels its task.
    public var deadline: Duration? { timeoutNanoseconds < 0 ? nil : .nanoseconds(timeoutNanoseconds) }

    /// Nobody waits for the answer. It is wanted all the same: it ends the call. Told in the daemon's own process; in
    /// one of the plugin's own it is always false.
    public var isOneWay: Bool { flags & TRESTLE_REQUEST_ONE_WAY != 0 }

    /// The caller asked for progress. `progress` may be called without it, and does nothing then.
    public var wantsProgress: Bool { flags & TRESTLE_REQUEST_PROGRESS != 0 }

    /// The daemon has ended the call: by the caller's word, its deadline or its leaving. Unlike `Task.isCancelled` it
    /// tells the truth on every thread, so also in `blocking` and in raw tasks.
    public var isCancelled: Bool {
        if let cancelMark { return cancelMark.isSet.load(ordering: .relaxed) }
        return runtime.rawCalls.isCancelled(handle)
    }

    /// Sends an intermediate result, which the daemon numbers. Their order is that of the calls of this method; a slow
    /// reader may get the newest only. A value that has no JSON is not sent, with a warning in the log. Any thread.
    public func progress(_ value: some Encodable) {
        guard wantsProgress else { return }
        do throws(JSONEncodingError) {
            let bytes = try JSONCoding.encode(value)
            bytes.withUnsafeBytes { runtime.host.progress(handle, $0) }
        } catch {
            log.warning("a progress value of type \(type(of: value)) was not sent: \(error)")
        }
    }

    /// Sends an intermediate result that is JSON already. What is none is not sent, with a warning in the log. Any
    /// thread.
    public func progress(raw value: RawSpan) {
        guard wantsProgress else { return }
        value.withUnsafeBytes { runtime.host.progress(handle, $0) }
    }

    /// Calls another task on behalf of this call's caller, of whom the policy is not asked again: the task sees him as
    /// its own caller. When this call ends, so does the other. Any thread; what follows the `await` runs where it would
    /// have run before.
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
    public func bridge<R: Decodable & Sendable, P: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: TaskTimeout = .standard, onProgress: @escaping @Sendable (P) -> Void
    ) async throws(BridgeError) -> R {
        try await runtime.bridge(
            task, options, BridgeRoute(parent: handle, session: session, timeout: timeout), log: log,
            onProgress: onProgress)
    }

    /// Calls another task on behalf of this call's caller, with no interest in its progress; otherwise, and in what it
    /// throws, as the other.
    public func bridge<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil,
        timeout: TaskTimeout = .standard
    ) async throws(BridgeError) -> R {
        try await runtime.bridge(
            task, options, BridgeRoute(parent: handle, session: session, timeout: timeout), log: log)
    }

    /// Sends an event, behind what this thread has sent before. Any thread. Data that have no JSON are not sent, with a
    /// warning in the log.
    ///
    /// - Parameters:
    ///   - event: Its name, such as `record.changed`.
    ///   - data: What it says.
    ///   - sessions: Only these; nil: every session that subscribed to the name.
    ///   - unasked: Also to those of `sessions` that did not subscribe.
    public func emit(_ event: String, _ data: some Encodable, to sessions: [SessionID]? = nil, unasked: Bool = false) {
        runtime.emit(event, data, to: sessions, unasked: unasked, log: log)
    }

    /// The daemon's log; the lines name the call.
    public var log: PluginLog { PluginLog(host: runtime.host, call: handle) }

    /// Runs `body` on a thread where it may block, and waits for it without blocking the loop.
    ///
    /// The threads are few and shared with the daemon: for short waits, such as reading a file. What takes long, or
    /// must not overlap, belongs on a `BlockingLane`.
    ///
    /// - Throws: What `body` throws; `CancellationError` where the task was cancelled before this began.
    public func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await runtime.blocking(body)
    }

    /// What the plugin can do apart from this call.
    public var plugin: PluginContext { PluginContext(runtime: runtime) }
}

/// Tells a call's other threads that it was cancelled.
final class CancelMark: Sendable {
    let isSet = Atomic<Bool>(false)
}
