/// A set of queues, one for each user. Users take turns: between two elements of one user comes one
/// element of each other user that has any. The elements of one user keep their order.
///
/// A user is a uid. Sessions choose their origins themselves, so another origin does not give a user another turn.
public struct UserTurns<Element> {
    @usableFromInline var lines: [UInt32: WaitingLine<Element>] = [:]
    /// The users that have a line, in the order of their turns.
    @usableFromInline var users: [UInt32] = []

    /// Creates an empty queue.
    @inlinable
    public init() {}

    /// Whether no element waits.
    @inlinable public var isEmpty: Bool { users.isEmpty }

    /// Appends an element to a user's line.
    @inlinable
    public mutating func append(_ element: Element, of user: UInt32) {
        if let index = lines.index(forKey: user) {
            lines.values[index].append(element)
        } else {
            lines[user] = WaitingLine(element)
            users.append(user)
        }
    }

    /// Removes and returns the next element of the user whose turn it is; `nil` if no element waits. The next turn
    /// belongs to another user, if there is one.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard let user = users.first, let index = lines.index(forKey: user) else { return nil }
        let element = lines.values[index].removeFirst()
        let isLast = lines.values[index].isEmpty
        if isLast { lines.remove(at: index) }
        // With only one user, the order does not change.
        if isLast || users.count > 1 { users.removeFirst() }
        if !isLast, users.first != user { users.append(user) }
        return element
    }

    /// Undoes `popFirst`: the element is the first of its user again, and the next turn belongs to this user.
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

    /// Ends the user's turn: if the next turn also belongs to this user, all other users come first.
    @inlinable
    public mutating func endTurn(of user: UInt32) {
        if users.count > 1, users.first == user { users.append(users.removeFirst()) }
    }
}

extension UserTurns: Sendable where Element: Sendable {}

/// A FIFO queue.
public struct WaitingLine<Element> {
    /// The elements. Removed ones leave `nil`, so that the others keep their indices; at most half of the slots are
    /// `nil`.
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var start = 0

    /// Creates an empty line.
    @inlinable
    public init() {}

    /// Creates a line with one element.
    @inlinable
    public init(_ element: Element) { slots = [element] }

    /// Whether the line has no element.
    @inlinable public var isEmpty: Bool { start == slots.count }
    /// The next element; `nil` if there is none.
    @inlinable public var first: Element? { isEmpty ? nil : slots[start] }

    /// Appends an element.
    @inlinable
    public mutating func append(_ element: Element) { slots.append(element) }

    /// Inserts an element at the front.
    @inlinable
    public mutating func prepend(_ element: Element) {
        if start > 0 {
            start -= 1
            slots[start] = element
        } else {
            slots.insert(element, at: 0)
        }
    }

    /// Removes and returns the next element. The line must not be empty.
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
