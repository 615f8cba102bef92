import BridgeJSON

/// Who is connected. The only place where sessions get their numbers. Loop thread only.
final class SessionStore {
    /// All sessions, by number and in the order of the numbers.
    private(set) var list = SessionList()
    /// The number of the last session that was opened.
    private(set) var lastNumber: UInt64 = 0

    /// The number of the next session: none bore it before.
    func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Sessions up to this number have been: no new one bears it.
    func `continue`(after number: UInt64) { lastNumber = max(lastNumber, number) }

    /// Enters a session.
    func insert(_ session: Session) { list[session.number] = session }

    /// Takes a session out; false: it is not there.
    func remove(_ session: Session) -> Bool { list.removeValue(forKey: session.number) != nil }

    /// The session of this number.
    subscript(number: UInt64) -> Session? { list[number] }

    /// How many there are.
    var count: Int { list.count }
    /// All of them, in no order.
    var all: some Collection<Session> { list.values }

    /// The session that a call names, where one is named.
    ///
    /// - Throws: `session.not_found`, where it is not there or has ended its input.
    func target(_ number: UInt64?) throws(BridgeError) -> Session? {
        guard let number else { return nil }
        guard let session = list[number], !session.hasEndedInput else { throw Self.notFound(number) }
        return session
    }

    /// The session of this number, which has not been closed.
    ///
    /// - Throws: `session.not_found`.
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
