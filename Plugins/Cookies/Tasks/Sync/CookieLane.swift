import Synchronization
import TaskKit

/// The store on a thread of its own. Calls that arrive together share a commit. The calls of a user are performed in
/// the order of `submit`. Any thread.
final class CookieLane: Sendable {
    /// The maximum number of calls that share a commit.
    static let callsAtOnce = 256
    /// The maximum number of waiting calls of a uid.
    static let waitingCalls = 4096
    /// The maximum number of bytes of the options of a uid's waiting calls, which are held in memory.
    static let waitingBytes = 16 << 20

    /// The waiting calls of a uid.
    private struct Load {
        var calls = 0
        var sizeBytes = 0
    }

    private struct Waiting {
        var calls = UserTurns<any CookieCall>()
        var loads: [UInt32: Load] = [:]
        var isAwake = false
        /// The open sessions that have made calls, or continue from the previous daemon.
        var sessions: Set<SessionID> = []
    }

    private let threads = BlockingThreads(name: "cookies-store")
    private let waiting = Mutex(Waiting())
    private let engine = Mutex<CookieEngine?>(nil)

    /// Opens the store, and begins to perform calls.
    func open(_ make: @escaping @Sendable () throws -> CookieEngine) async throws {
        try await threads.run {
            let made = try make()
            self.engine.withLock { $0 = made }
        }
    }

    /// Performs the waiting calls, and closes the store.
    func close() async {
        try? await threads.run {
            self.drain()
            self.engine.withLock { engine in
                engine?.close()
                engine = nil
            }
        }
    }

    /// Queues a call. A call beyond the limits is answered with `busy`.
    func submit(_ call: any CookieCall) {
        let (isTaken, wakes) = waiting.withLock { waiting in
            var load = waiting.loads[call.uid, default: Load()]
            load.calls += 1
            load.sizeBytes += call.sizeBytes
            guard load.calls <= Self.waitingCalls, load.sizeBytes <= Self.waitingBytes else { return (false, false) }
            waiting.loads[call.uid] = load
            waiting.calls.append(call, of: call.uid)
            defer { waiting.isAwake = true }
            return (true, !waiting.isAwake)
        }
        if !isTaken {
            call.answer(
                .failure(
                    BridgeError(
                        .busy, "too many calls of uid \(call.uid) wait for the cookies: wait for some answers first",
                        data: ["started": false], isTransient: true, retryAfter: .milliseconds(100))))
        }
        if wakes { threads.submit { self.drain() } }
    }

    /// Records that sessions make calls, or continue from the previous daemon.
    func note(_ sessions: some Sequence<SessionID>) { waiting.withLock { $0.sessions.formUnion(sessions) } }

    /// Removes a closed session after its waiting calls. The end of a session that was not noted does not wake the
    /// thread.
    func end(_ session: SessionID) {
        guard waiting.withLock({ $0.sessions.remove(session) }) != nil else { return }
        perform { $0.sessionClosed(session) }
    }

    /// Runs an operation on the store that is not a call, after the waiting calls.
    func perform(_ body: @escaping @Sendable (inout CookieEngine) -> Void) {
        threads.submit {
            self.drain()
            self.engine.withLock { if $0 != nil { body(&$0!) } }  // `!`: checked in the same statement
        }
    }

    /// Runs an operation on the store after the waiting calls, and waits for it.
    func run<T: Sendable>(_ body: @escaping @Sendable (inout CookieEngine) throws -> T) async throws -> T {
        try await threads.run {
            self.drain()
            return try self.engine.withLock { engine in
                guard engine != nil else { throw BridgeError.storeNotOpen }
                return try body(&engine!)  // `!`: checked above
            }
        }
    }

    private func drain() {
        while true {
            let calls = take()
            if calls.isEmpty { return }
            let isOpen = engine.withLock { engine in
                engine?.carryOut(calls)
                return engine != nil
            }
            if !isOpen { for call in calls { call.answer(.failure(.storeNotOpen)) } }
        }
    }

    private func take() -> [any CookieCall] {
        waiting.withLock { waiting in
            var calls: [any CookieCall] = []
            while calls.count < Self.callsAtOnce, let call = waiting.calls.popFirst() {
                calls.append(call)
                waiting.loads[call.uid]?.calls -= 1
                waiting.loads[call.uid]?.sizeBytes -= call.sizeBytes
                if waiting.loads[call.uid]?.calls == 0 { waiting.loads[call.uid] = nil }
            }
            if calls.isEmpty { waiting.isAwake = false }
            return calls
        }
    }
}
