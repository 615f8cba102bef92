public import PageBridge

/// The handlers that clients add to pages.
public struct PageHandlers: Sendable {
    /// Why one is not added.
    public enum Refusal: Error, Sendable {
        /// The name has a handler: of a client, or of a dialect.
        case taken
        /// There are ``PageHandlers/maximum``.
        case full
    }

    /// How many there may be.
    public static let maximum = 64
    /// As many as a task's name may have.
    private static let maximumNameBytes = 128

    /// All of them, in the order in which they were added.
    public private(set) var list: [PageHandler] = []
    private let reserved: Set<String>

    /// None.
    ///
    /// - Parameter reserved: Names that have handlers of the bridge's own.
    public init(reserved: Set<String> = []) { self.reserved = reserved }

    /// Whether a text can be the name of a handler or its task: ASCII without spaces, so that texts that are equal have
    /// equal bytes.
    ///
    /// - Parameter text: The text.
    public static func isName(_ text: String) -> Bool {
        (1...maximumNameBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Adds one.
    ///
    /// - Parameter handler: The handler.
    /// - Throws: Why it is not added.
    public mutating func add(_ handler: PageHandler) throws(Refusal) {
        guard !reserved.contains(handler.name), !list.contains(where: { $0.name == handler.name }) else {
            throw .taken
        }
        guard list.count < Self.maximum else { throw .full }
        list.append(handler)
    }

    /// Removes one; false where there is none.
    ///
    /// - Parameter name: Its name.
    public mutating func remove(_ name: String) -> Bool {
        let count = list.count
        list.removeAll { $0.name == name }
        return list.count < count
    }

    /// Removes all.
    public mutating func removeAll() { list = [] }
}
