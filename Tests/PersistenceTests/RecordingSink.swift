import Dispatch
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

/// A sink that records what is sent.
final class RecordingSink: StoreSink {
    struct SentChange: Sendable, Equatable {
        var session: SessionID
        var change: RecordChanged
    }

    /// A table that a session was asked to read again.
    struct SentExpired: Sendable, Equatable {
        var session: SessionID
        var expired: CursorExpired
    }

    struct State {
        var deliveries: [Int] = []
        var changes: [SentChange] = []
        var expired: [SentExpired] = []
        var waiting: [@Sendable () -> Void] = []
    }

    let state = Mutex(State())

    func deliver(_ answers: [StoreAnswer]) {
        state.withLock { $0.deliveries.append(answers.count) }
        answers.forEach { $0.give() }
    }

    /// The number of answers in each delivery.
    var deliveries: [Int] { state.withLock { $0.deliveries } }

    func notify(_ change: RecordChanged, to sessions: [SessionID]) {
        state.withLock { $0.changes += sessions.map { SentChange(session: $0, change: change) } }
    }

    func notify(_ expired: CursorExpired, to sessions: [SessionID]) {
        state.withLock { $0.expired += sessions.map { SentExpired(session: $0, expired: expired) } }
    }

    var expired: [SentExpired] { state.withLock { $0.expired } }

    func whenTaken(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(body) } }

    /// Lets the waiting replays continue.
    ///
    /// - Returns: Whether there were any.
    func handOver() -> Bool {
        let waiting = state.withLock { state in exchange(&state.waiting, with: []) }
        waiting.forEach { $0() }
        return !waiting.isEmpty
    }

    /// Returns the changes sent to a session so far, as "version change key".
    func sent(_ session: SessionID = 1, table: String? = nil) -> [String] {
        state.withLock { $0.changes }
            .filter { $0.session == session && (table == nil || $0.change.table == table) }
            .map { "\($0.change.version) \($0.change.change.rawValue) \($0.change.key)" }
    }

    var all: [SentChange] { state.withLock { $0.changes } }
}

extension JSON {
    /// A result's `key`.
    var key: String? { self["key"]?.stringValue }
    var version: Int64? { self["version"]?.int64Value }
    /// The keys of a query's page.
    var keys: [String] { self["records"]?.arrayValue?.compactMap(\.key) ?? [] }
    /// Parses a JSON text in a test.
    static func text(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSON {
        try JSON(parsing: text)
    }
}
