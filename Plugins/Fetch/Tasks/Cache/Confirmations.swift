import HTTPRules
import Synchronization

/// The stored responses that servers have confirmed and that the store has not written yet. The store writes them
/// before its next operation, so that a confirmation needs no transaction of its own. A crash loses them; the servers
/// are then asked again. Any thread.
final class Confirmations: Sendable {
    /// The maximum number of waiting responses.
    static let maximum = 64

    /// The responses by the numbers of their rows.
    private let waiting = Mutex<[StoredResponse.ID: StoredResponse]>([:])

    /// Adds responses. Each replaces an older one of its row.
    ///
    /// - Returns: Whether all must be written now because the maximum is reached.
    func add(_ responses: [StoredResponse]) -> Bool {
        waiting.withLock { waiting in
            for response in responses { waiting[response.id] = response }
            return waiting.count >= Self.maximum
        }
    }

    /// Returns the waiting responses of some rows.
    func of(_ ids: [StoredResponse.ID]) -> [StoredResponse] {
        waiting.withLock { waiting in ids.compactMap { waiting[$0] } }
    }

    /// Removes and returns all responses, to be written.
    func takeAll() -> [StoredResponse] {
        waiting.withLock { waiting in
            defer { waiting = [:] }
            return Array(waiting.values)
        }
    }
}
