import TaskKit

/// The data of the event `cursor.expired`: a table was replaced as a whole, and has to be read again. The watch
/// continues.
struct CursorExpired: Codable, Sendable, Equatable {
    static let event = "cursor.expired"

    var table: String
    /// The namespace's version from which on changes are sent.
    var version: Int64
    /// Only for those who named the namespace when they began to watch.
    var namespace: String?
}
