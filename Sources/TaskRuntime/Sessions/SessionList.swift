/// The connected sessions, accessible by number and in the order of the numbers.
struct SessionList {
    private var sessions: [UInt64: Session] = [:]
    /// The numbers, in ascending order.
    private(set) var keys: [UInt64] = []

    var count: Int { sessions.count }
    var values: some Collection<Session> { sessions.values }

    /// The session with a number. Setting `nil` removes it.
    subscript(number: UInt64) -> Session? {
        get { sessions[number] }
        set {
            let isKnown = sessions.updateOrRemove(newValue, forKey: number)
            guard isKnown != (newValue != nil) else { return }
            // New sessions have the greatest number, so they are inserted at the end.
            let index = keys.partition { $0 >= number }
            if isKnown { keys.remove(at: index) } else { keys.insert(number, at: index) }
        }
    }

    @discardableResult
    mutating func removeValue(forKey number: UInt64) -> Session? {
        let session = self[number]
        self[number] = nil
        return session
    }

    /// Returns the sessions with greater numbers, in ascending order.
    func after(_ number: UInt64) -> some Sequence<Session> {
        keys[keys.partition { $0 > number }...].lazy.compactMap { sessions[$0] }
    }
}

extension Dictionary {
    /// Sets the value of a key; `nil` removes it.
    ///
    /// - Returns: Whether there was a value before.
    fileprivate mutating func updateOrRemove(_ value: Value?, forKey key: Key) -> Bool {
        if let value { return updateValue(value, forKey: key) != nil }
        return removeValue(forKey: key) != nil
    }
}
