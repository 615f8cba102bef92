/// What waits, in a line for each user. Users take turns: between two elements of one user comes one of each other user
/// that has any. The elements of one user keep their order.
///
/// A user is a uid. Sessions name their origins themselves, so an origin of its own gives no user another turn.
public struct UserTurns<Element> {
    @usableFromInline var lines: [UInt32: WaitingLine<Element>] = [:]
    /// The users that have a line, in the order of their turns.
    @usableFromInline var users: [UInt32] = []

    /// No one waits.
    @inlinable
    public init() {}

    /// Whether no one waits.
    @inlinable public var isEmpty: Bool { users.isEmpty }

    /// Takes in the last element of a user.
    @inlinable
    public mutating func append(_ element: Element, of user: UInt32) {
        if let index = lines.index(forKey: user) {
            lines.values[index].append(element)
        } else {
            lines[user] = WaitingLine(element)
            users.append(user)
        }
    }

    /// Takes the next element of the user whose turn it is. The next turn is another user's, if there is one.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard let user = users.first, let index = lines.index(forKey: user) else { return nil }
        let element = lines.values[index].removeFirst()
        let isLast = lines.values[index].isEmpty
        if isLast { lines.remove(at: index) }
        // As long as there is one user only, nothing moves.
        if isLast || users.count > 1 { users.removeFirst() }
        if !isLast, users.first != user { users.append(user) }
        return element
    }

    /// Undoes `popFirst`: the element is the first of its user again, and the turn is this user's.
    @inlinable
    public mutating func putBack(_ element: Element, of user: UInt32) {
        if let index = lines.index(forKey: user) {
            lines.values[index].prepend(element)
            users.removeAll { $0 == user }
        } else {
            lines[user] = WaitingLine(element)
        }
        users.insert(user, at: 0)
    }

    /// The user has had a turn: if the next one is also theirs, it goes to all others first.
    @inlinable
    public mutating func endTurn(of user: UInt32) {
        if users.count > 1, users.first == user { users.append(users.removeFirst()) }
    }
}

extension UserTurns: Sendable where Element: Sendable {}

/// First in, first out.
public struct WaitingLine<Element> {
    /// Those taken out leave nil, so that the others keep their indices; never more than half of them are nil.
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var start = 0

    /// An empty line.
    @inlinable
    public init() {}

    /// A line of one.
    @inlinable
    public init(_ element: Element) { slots = [element] }

    /// Whether nothing waits.
    @inlinable public var isEmpty: Bool { start == slots.count }
    /// The next element; nil: there is none.
    @inlinable public var first: Element? { isEmpty ? nil : slots[start] }

    /// Takes in the last element.
    @inlinable
    public mutating func append(_ element: Element) { slots.append(element) }

    /// Takes in the first element.
    @inlinable
    public mutating func prepend(_ element: Element) {
        if start > 0 {
            start -= 1
            slots[start] = element
        } else {
            slots.insert(element, at: 0)
        }
    }

    /// Takes the next element out. The line is not empty.
    @inlinable
    @discardableResult
    public mutating func removeFirst() -> Element {
        // `!`: slots from `start` on are not nil.
        let element = slots[start]!
        slots[start] = nil
        start += 1
        if start > slots.count / 2 || isEmpty {
            slots.removeFirst(start)
            start = 0
        }
        return element
    }
}

extension WaitingLine: Sendable where Element: Sendable {}
