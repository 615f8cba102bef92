import DurableDatabase
import Synchronization
import TaskKit

/// The account store on a thread of its own. What is asked of it is done in the order in which it was asked.
final class AccountDatabase: Sendable {
    private let lane = BlockingThreads(name: "login-store")
    private let store = Mutex<AccountStore?>(nil)
    /// Gets sentences for the operator.
    private let log = Mutex<@Sendable (String) -> Void> { _ in }

    /// Opens the file.
    ///
    /// - Parameter log: Gets sentences for the operator from here on.
    /// - Throws: `storage.full`, `storage.failed`, with a sentence for the operator.
    func open(_ path: String, now: WallTime, log: @escaping @Sendable (String) -> Void) async throws {
        self.log.withLock { $0 = log }
        do {
            try await lane.run { _ = self.hold(try AccountStore(path: path, now: now)) }
        } catch let failure as DatabaseFailure {
            throw BridgeError(failure, "\(failure)")
        }
    }

    /// Finishes what was asked before and closes the file.
    func close() async throws {
        try await run { try self.hold(nil)?.close() }
    }

    /// Does something with the store.
    ///
    /// - Throws: `storage.full`, `storage.failed`; `CancellationError`, where the call had ended before its turn came.
    func perform<T: Sendable>(_ body: @escaping @Sendable (AccountStore) throws -> T) async throws -> T {
        try await run { try body(self.opened()) }
    }

    /// Makes a token useless, even if the caller has been cancelled in the meantime.
    ///
    /// - Parameter failed: Called where it could not be done.
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
        guard let store = store.withLock({ $0 }) else { throw DatabaseFailure("the accounts are not open") }
        return store
    }

    /// Takes the store in the place of the one before, which is returned.
    private func hold(_ new: AccountStore?) -> AccountStore? {
        store.withLock { store in
            defer { store = new }
            return store
        }
    }
}

extension BridgeError {
    /// `storage.full` or `storage.failed`, as callers see it: no path, and no word of the system's.
    init(_ failure: DatabaseFailure) {
        let reason = failure.isFull ? "the disk is full" : "the daemon's log says why"
        self.init(failure, "the accounts cannot be used: \(reason)")
    }

    fileprivate init(_ failure: DatabaseFailure, _ message: String) {
        self.init(failure.isFull ? "storage.full" : "storage.failed", message, isTransient: failure.isFull)
    }
}
