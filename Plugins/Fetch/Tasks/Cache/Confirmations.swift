import HTTPRules
import Synchronization

/// Stored responses that servers have confirmed and the store has not written yet. It writes them before it does
/// something else, so that a confirmation takes no transaction of its own. A crash loses them: the servers are asked
/// once more then. Any thread.
final class Confirmations: Sendable {
    /// How many wait at most.
    static let maximum = 64

    /// By the numbers of their rows.
    private let waiting = Mutex<[StoredResponse.ID: StoredResponse]>([:])

    /// Adds some, each in place of an older one.
    ///
    /// - Returns: Whether they are to be written now: no more may wait.
    func add(_ responses: [StoredResponse]) -> Bool {
        waiting.withLock { waiting in
            for response in responses { waiting[response.id] = response }
            return waiting.count >= Self.maximum
        }
    }

    /// Those of some rows that wait.
    func of(_ ids: [StoredResponse.ID]) -> [StoredResponse] {
        waiting.withLock { waiting in ids.compactMap { waiting[$0] } }
    }

    /// Takes all, to be written.
    func takeAll() -> [StoredResponse] {
        waiting.withLock { waiting in
            defer { waiting = [:] }
            return Array(waiting.values)
        }
    }
}
