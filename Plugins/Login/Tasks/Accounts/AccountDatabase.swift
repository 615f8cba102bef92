import DurableDatabase
import Synchronization
import TaskKit

/// The account store on its own thread. Requests are executed in the order of arrival.
final class AccountDatabase: Sendable {
    private let lane = BlockingThreads(name: "login-store")
    private let store = Mutex<AccountStore?>(nil)
    /// Receives messages for the operator.
    private let log = Mutex<@Sendable (String) -> Void> { _ in }

    /// Opens the file.
    ///
    /// - Parameter log: Receives messages for the operator from now on.
    /// - Throws: `storage.full`, `storage.failed`, with a message for the operator.
    func open(_ path: String, now: WallTime, log: @escaping @Sendable (String) -> Void) async throws {
        self.log.withLock { $0 = log }
        do {
            try await lane.run { _ = self.hold(try AccountStore(path: path, now: now)) }
        } catch let failure as DatabaseFailure {
            throw BridgeError(failure, "\(failure)")
        }
    }

    /// Finishes the earlier requests and closes the file.
    func close() async throws {
        try await run { try self.hold(nil)?.close() }
    }

    /// Runs `body` with the store.
    ///
    /// - Throws: `storage.full`, `storage.failed`; `CancellationError` if the call ended before its turn.
    func perform<T: Sendable>(_ body: @escaping @Sendable (AccountStore) throws -> T) async throws -> T {
        try await run { try body(self.opened()) }
    }

    /// Revokes a token, even if the call is cancelled in the meantime.
    ///
    /// - Parameter failed: Called if the token could not be revoked.
    func revokeSoon(_ token: TokenHash, failed: @escaping @Sendable (any Error) -> Void) {
        lane.submit {
            do { try self.opened().revoke(token) } catch { failed(error) }
        }
    }

    private func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        do {
            return try await lane.run(body)
        } catch let failure as DatabaseFailure {
            log.withLock { $0 }("\(failure)")
            throw BridgeError(failure)
        }
    }

    private func opened() throws(DatabaseFailure) -> AccountStore {
        guard let store = store.withLock({ $0 }) else { throw DatabaseFailure("the account store is not open") }
        return store
    }

    /// Replaces the store and returns the previous one.
    private func hold(_ new: AccountStore?) -> AccountStore? {
        store.withLock { store in
            defer { store = new }
            return store
        }
    }
}

extension BridgeError {
    /// `storage.full` or `storage.failed`, as callers receive it: without a path and without the system's message.
    init(_ failure: DatabaseFailure) {
        let reason = failure.isFull ? "the disk is full" : "see the daemon's log"
        self.init(failure, "the accounts cannot be used: \(reason)")
    }

    fileprivate init(_ failure: DatabaseFailure, _ message: String) {
        self.init(failure.isFull ? "storage.full" : "storage.failed", message, isTransient: failure.isFull)
    }
}
