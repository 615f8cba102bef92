public import PageBridge

/// The handlers that clients add to pages.
public struct PageHandlers: Sendable {
    /// The reason why a handler is not added.
    public enum Refusal: Error, Sendable {
        /// The name already has a handler, of a client or of a dialect.
        case taken
        /// There are already ``PageHandlers/maximum`` handlers.
        case full
    }

    /// The maximum number of handlers.
    public static let maximum = 64
    /// The maximum length of a name: that of a task's name.
    private static let maximumNameBytes = 128

    /// The handlers, in the order in which they were added.
    public private(set) var list: [PageHandler] = []
    private let reserved: Set<String>

    /// Creates an empty list.
    ///
    /// - Parameter reserved: The names of the bridge's own handlers.
    public init(reserved: Set<String> = []) { self.reserved = reserved }

    /// Whether a text can be the name of a handler or its task: ASCII without spaces, so that equal texts have equal
    /// bytes.
    ///
    /// - Parameter text: The text.
    public static func isName(_ text: String) -> Bool {
        (1...maximumNameBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Adds a handler.
    ///
    /// - Parameter handler: The handler.
    /// - Throws: The reason why it is not added.
    public mutating func add(_ handler: PageHandler) throws(Refusal) {
        guard !reserved.contains(handler.name), !list.contains(where: { $0.name == handler.name }) else {
            throw .taken
        }
        guard list.count < Self.maximum else { throw .full }
        list.append(handler)
    }

    /// Removes a handler; returns false if it does not exist.
    ///
    /// - Parameter name: The handler's name.
    public mutating func remove(_ name: String) -> Bool {
        let count = list.count
        list.removeAll { $0.name == name }
        return list.count < count
    }

    /// Removes all handlers.
    public mutating func removeAll() { list = [] }
}
