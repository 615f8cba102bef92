import Synchronization
import TaskKit

/// Limits the number of running fetches, for each user and in total. The others wait, and users take turns. Any thread.
final class TransferQuota: Sendable {
    /// The maximum number of running fetches of all users.
    static let maximumTotal = 256

    /// The fetches of one user.
    private struct Account {
        var running = 0
        /// The waiting fetches by their increasing numbers.
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var line = WaitingLine<UInt64>()
    }

    private struct State {
        var total = 0
        var lastNumber: UInt64 = 0
        var accounts: [UInt32: Account] = [:]
        /// The users with waiting fetches, in the order of their turns.
        var users: [UInt32] = []
    }

    private let state = Mutex(State())
    private let metrics: @Sendable () -> FetchMetrics

    init(metrics: @escaping @Sendable () -> FetchMetrics = { FetchMetrics() }) { self.metrics = metrics }

    /// The right to run. It returns to the quota when the last reference to it is released.
    final class Ticket: Sendable {
        private let quota: TransferQuota
        private let user: UInt32
        private let transfers: Int

        fileprivate init(_ quota: TransferQuota, _ user: UInt32, _ transfers: Int) {
            (self.quota, self.user, self.transfers) = (quota, user, transfers)
        }

        deinit { quota.release(user, transfers) }
    }

    /// Waits for a turn.
    ///
    /// - Parameters:
    ///   - user: The user of the fetch.
    ///   - settings: The limits of running and waiting fetches of a user.
    ///   - onWait: Called if the fetch must wait.
    ///   - post: Runs a closure on the loop, soon.
    /// - Throws: `busy`, if too many fetches wait; `call.cancelled`.
    func ticket(
        for user: UInt32, _ settings: FetchSettings, onWait: () -> Void,
        post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) async throws(BridgeError) -> Ticket {
        let number = try enter(user, settings)
        guard let number else { return Ticket(self, user, settings.transfers) }
        onWait()
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(number, of: user, continuation)
                // A task that was cancelled before it waited would otherwise wait forever.
                if Task.isCancelled { post { self.abandon(number, of: user) } }
            }
        } onCancel: {
            // Never resume here: the handler runs while the Swift runtime updates the task that this would resume.
            post { self.abandon(number, of: user) }
        }
        guard isAdmitted else { throw .fetchCancelled }
        return Ticket(self, user, settings.transfers)
    }

    /// Requests the right to run.
    ///
    /// - Returns: `nil` if the fetch may run, otherwise the number under which it waits.
    private func enter(_ user: UInt32, _ settings: FetchSettings) throws(BridgeError) -> UInt64? {
        try state.withLock { state in
            Result { () throws(BridgeError) in
                var account = state.accounts[user] ?? Account()
                if state.total < Self.maximumTotal, account.running < settings.transfers, account.line.isEmpty {
                    account.running += 1
                    state.accounts[user] = account
                    state.total += 1
                    metrics().running.set(state.total)
                    return nil
                }
                guard account.waiting.count < settings.queue else {
                    throw BridgeError(
                        .busy, "\(settings.queue) fetches of this user wait already; try again in a moment",
                        data: ["started": false], isTransient: true, retryAfter: .seconds(1))
                }
                state.lastNumber += 1
                return state.lastNumber
            }
        }.get()
    }

    private func wait(_ number: UInt64, of user: UInt32, _ continuation: CheckedContinuation<Bool, Never>) {
        state.withLock { state in
            var account = state.accounts[user] ?? Account()
            if account.waiting.isEmpty { state.users.append(user) }
            account.waiting[number] = continuation
            account.line.append(number)
            state.accounts[user] = account
            metrics().queued.add(1)
        }
    }

    private func abandon(_ number: UInt64, of user: UInt32) {
        let waiter = state.withLock { state in
            let waiter = state.accounts[user]?.waiting.removeValue(forKey: number)
            guard waiter != nil else { return waiter }
            metrics().queued.add(-1)
            if state.accounts[user]?.waiting.isEmpty == true {
                state.accounts[user]?.line = WaitingLine()
                state.users.removeAll { $0 == user }
                Self.forget(user, in: &state)
            }
            return waiter
        }
        waiter?.resume(returning: false)
    }

    private func release(_ user: UInt32, _ transfers: Int) {
        let admitted = state.withLock { state in
            state.total -= 1
            state.accounts[user]?.running -= 1
            var admitted: [CheckedContinuation<Bool, Never>] = []
            for _ in state.users.indices where state.total < Self.maximumTotal {
                let next = state.users.removeFirst()
                if let waiter = Self.admit(next, transfers, in: &state) { admitted.append(waiter) }
            }
            Self.forget(user, in: &state)
            metrics().running.set(state.total)
            metrics().queued.add(-admitted.count)
            return admitted
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    /// Admits the next waiting fetch of the user whose turn it is, and moves the user to the end of the line if more
    /// wait.
    private static func admit(
        _ user: UInt32, _ transfers: Int, in state: inout State
    ) -> CheckedContinuation<Bool, Never>? {
        guard var account = state.accounts[user] else { return nil }
        var waiter: CheckedContinuation<Bool, Never>?
        while account.running < transfers, waiter == nil, !account.line.isEmpty {
            // Fetches that were given up are no longer in `waiting`.
            waiter = account.waiting.removeValue(forKey: account.line.removeFirst())
        }
        if waiter != nil {
            account.running += 1
            state.total += 1
        }
        state.accounts[user] = account
        if !account.waiting.isEmpty { state.users.append(user) }
        return waiter
    }

    private static func forget(_ user: UInt32, in state: inout State) {
        guard let account = state.accounts[user], account.running == 0, account.waiting.isEmpty else { return }
        state.accounts[user] = nil
    }
}
