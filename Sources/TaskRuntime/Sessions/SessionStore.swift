import BridgeJSON

/// The connected sessions. The only source of session numbers. Loop thread only.
final class SessionStore {
    /// All sessions, by number and in the order of the numbers.
    private(set) var list = SessionList()
    /// The number of the last session that was opened.
    private(set) var lastNumber: UInt64 = 0

    /// Returns a number for the next session that no session had before.
    func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Makes the numbers of new sessions begin after this one. The previous daemon used the numbers up to it.
    func `continue`(after number: UInt64) { lastNumber = max(lastNumber, number) }

    /// Inserts a session.
    func insert(_ session: Session) { list[session.number] = session }

    /// Removes a session; returns false if it is not in the store.
    func remove(_ session: Session) -> Bool { list.removeValue(forKey: session.number) != nil }

    /// The session with this number; `nil` if there is none.
    subscript(number: UInt64) -> Session? { list[number] }

    /// The number of sessions.
    var count: Int { list.count }
    /// All sessions, in no particular order.
    var all: some Collection<Session> { list.values }

    /// Returns the session that a call names; `nil` if it names none.
    ///
    /// - Throws: `session.not_found` if it does not exist or has ended its input.
    func target(_ number: UInt64?) throws(BridgeError) -> Session? {
        guard let number else { return nil }
        guard let session = list[number], !session.hasEndedInput else { throw Self.notFound(number) }
        return session
    }

    /// Returns the session with this number if it is not closing or closed.
    ///
    /// - Throws: `session.not_found` if there is none.
    func living(_ number: UInt64) throws(BridgeError) -> Session {
        guard let session = list[number], session.phase == .open || session.phase == .inputEnded else {
            throw Self.notFound(number)
        }
        return session
    }

    private static func notFound(_ number: UInt64) -> BridgeError {
        BridgeError(.sessionNotFound, "there is no session \(number)")
    }
}
