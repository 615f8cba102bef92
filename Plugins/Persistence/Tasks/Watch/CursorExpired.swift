import TaskKit

/// The data of the event `cursor.expired`: a table was replaced as a whole, and must be read again. The watch
/// continues.
struct CursorExpired: Codable, Sendable, Equatable {
    static let event = "cursor.expired"

    var table: String
    /// The namespace's version after which changes are sent.
    var version: Int64
    /// The namespace; `nil` if the watch was begun without naming it.
    var namespace: String?
}
