// SessionBus: a connection to a D-Bus bus on the loop: method calls, signals, the end. It is based on sd-bus, which
// does the reading and writing, and is its only importer. C pointers stay in this folder; each C status goes through
// `check`.

import CSystemdBus
import EventLoop
import Glibc

/// A connection to the bus of a user's session.
///
/// Exists until `close()` or until the connection is lost. Every call ends with its reply, or with the connection.
@LoopActor
final class BusConnection {
    /// Receives the result of a call.
    typealias Completion = @LoopActor (Result<BusMessage, BusError>) -> Void

    /// A subscribed signal. sd-bus holds a pointer to it, so it exists as long as the connection.
    @LoopActor
    private final class Match {
        let receive: @LoopActor (BusMessage) -> Void

        init(_ receive: @escaping @LoopActor (BusMessage) -> Void) { self.receive = receive }
    }

    /// Closed once `end` is set: from then on sd-bus makes no callbacks.
    private let handle: BusHandle
    private var watcher: DescriptorWatcher?
    private var timer: LoopTimer?
    /// The open calls, by the cookies of their messages.
    private var calls: [UInt64: Completion] = [:]
    private var matches: [Match] = []
    private var end: BusError?
    private let ending = AsyncSignal<Void>()
    private var isProcessing = false

    /// Connects to the bus of the user's session (`DBUS_SESSION_BUS_ADDRESS`, else `bus` in `XDG_RUNTIME_DIR`), or to
    /// the one at `address`, in D-Bus syntax.
    /// - Throws: `noAddress`; `unreachable`.
    init(address: String? = nil) throws(BusError) {
        let handle = try BusHandle(address: address)
        let descriptor = try check(sd_bus_get_fd(handle.raw), "watch the session bus", as: BusError.unreachable)
        self.handle = handle
        do throws(SystemError) {
            watcher = try DescriptorWatcher(descriptor) { [self] in process() }
        } catch {
            throw .unreachable(error)
        }
        timer = LoopTimer { [self] in process() }
        waitForMore()
    }

    // MARK: Calls

    /// Calls a method. `completion` is called once, later, on the loop, and before any message that follows the reply.
    func call(
        _ method: BusMethod, _ arguments: [BusValue] = [], timeout: Duration = .seconds(10),
        completion: @escaping Completion
    ) {
        do throws(BusError) {
            calls[try send(method, arguments, timeout: timeout)] = completion
            waitForMore()
        } catch {
            EventLoop.post { completion(.failure(error)) }
        }
    }

    /// Calls a method and waits for its reply, even if the Swift task is cancelled meanwhile.
    func call(
        _ method: BusMethod, _ arguments: [BusValue] = [], timeout: Duration = .seconds(10)
    ) async throws(BusError) -> BusMessage {
        let result = await withCheckedContinuation { continuation in
            call(method, arguments, timeout: timeout) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Sends a call and returns its cookie, which the reply contains.
    private func send(_ method: BusMethod, _ arguments: [BusValue], timeout: Duration) throws(BusError) -> UInt64 {
        if let end { throw end }
        let message = try handle.message(method, arguments)
        // Unretained: code that waits for a reply keeps the connection open, and the watcher retains an open
        // connection.
        let me = Unmanaged.passUnretained(self).toOpaque()
        let microseconds = UInt64(max(1, timeout / .microseconds(1)))
        try check(
            sd_bus_call_async(handle.raw, nil, message.raw, Self.replied, me, microseconds), "call \(method.member)",
            as: BusError.lost)
        var cookie: UInt64 = 0
        try check(sd_bus_message_get_cookie(message.raw, &cookie), "call \(method.member)")
        return cookie
    }

    private static let replied: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        let handle = MessageHandle(sharing: message)
        var cookie: UInt64 = 0
        sd_bus_message_get_reply_cookie(message, &cookie)
        let result: Result<BusMessage, BusError>
        do throws(BusError) {
            result = if let failure = handle.failure { .failure(failure) } else { .success(try handle.content()) }
        } catch {
            result = .failure(error)
        }
        // The pointer from `send`.
        let connection = Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated(passing: (connection, cookie, result)) { $0.calls.removeValue(forKey: $1)?($2) }
        return 0
    }

    // MARK: Signals

    /// Calls `receive` for each of these signals from now on. This applies to signals sent after the bus has answered
    /// any call that is made after this one.
    func receive(_ signal: BusSignal, _ receive: @escaping @LoopActor (BusMessage) -> Void) throws(BusError) {
        if let end { throw end }
        // The library does not retain it; `matches` does, as long as the library may call back.
        let match = Match(receive)
        // No callback for the answer: if the bus refuses the rule, the connection is lost instead of remaining silent.
        try check(
            sd_bus_add_match_async(
                handle.raw, nil, signal.rule, Self.signalled, nil, Unmanaged.passUnretained(match).toOpaque()),
            "listen to \(signal.member)")
        matches.append(match)
        waitForMore()
    }

    private static let signalled: sd_bus_message_handler_t = { message, context, _ in
        guard let message, let context else { return 0 }
        // An unreadable signal has no recipient to report to.
        guard let content = try? MessageHandle(sharing: message).content() else { return 0 }
        let match = Unmanaged<Match>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated(passing: (match, content)) { $0.receive($1) }
        return 0
    }

    // MARK: Driving sd-bus

    /// Makes sd-bus read, write and call back until no work is left.
    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        while end == nil {
            let status = sd_bus_process(handle.raw, nil)
            if status < 0 { return finish(BusError(status: status, "read from the bus", as: BusError.lost)) }
            if status == 0 { return waitForMore() }
        }
    }

    private func waitForMore() {
        guard end == nil else { return }
        let events = sd_bus_get_events(handle.raw)
        guard events >= 0 else {
            return finish(BusError(status: events, "read from the bus", as: BusError.lost))
        }
        watcher?.watch(readable: events & POLLIN != 0, writable: events & POLLOUT != 0)
        var microseconds: UInt64 = .max
        sd_bus_get_timeout(handle.raw, &microseconds)
        // On CLOCK_MONOTONIC, like the loop's; 0 if there is work immediately, all bits set if there is none.
        let (nanoseconds, isNever) = microseconds.multipliedReportingOverflow(by: 1_000)
        if isNever { timer?.cancel() } else { timer?.schedule(at: MonotonicInstant(nanoseconds: nanoseconds)) }
    }

    // MARK: The end

    /// Waits until the connection is lost or closed, or the Swift task is cancelled, and returns the reason.
    func ended() async -> BusError {
        if end == nil { _ = await ending.wait() }
        return end ?? .closed
    }

    /// Closes the connection; open calls end with `closed`. Further calls of this method do nothing.
    func close() { finish(.closed) }

    private func finish(_ error: BusError) {
        guard end == nil else { return }
        end = error
        watcher?.close()
        watcher = nil
        timer?.close()
        timer = nil
        // After the watcher, because this closes the descriptor.
        handle.close()
        let waiting = calls.values
        calls = [:]
        for completion in waiting { completion(.failure(error)) }
        ending.resumeAll(())
    }
}
