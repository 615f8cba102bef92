import TaskKit

/// The data of the event `record.changed`.
struct RecordChanged: Codable, Sendable, Equatable {
    static let event = "record.changed"

    var table: String
    var key: String
    var version: Int64
    var change: Change.Kind
    /// The namespace; `nil` if the watch was begun without naming it.
    var namespace: String?

    init(_ change: Change, namesNamespace: Bool) {
        table = change.path.table.text
        key = change.key.text
        version = change.version
        self.change = change.kind
        namespace = namesNamespace ? change.path.namespace.text : nil
    }
}
