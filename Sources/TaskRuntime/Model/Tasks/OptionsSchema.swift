import BridgeJSON

/// The schema for the options of a client's task.
enum OptionsSchema {
    /// Any options are valid.
    case none
    case read(SchemaCheck)
    /// The task has not been called since the daemon's start.
    case unread([UInt8])

    /// - Parameter check: The check; `nil` if any options are valid.
    init(_ check: SchemaCheck?) { self = check.map(Self.read) ?? .none }

    /// Creates a check from a schema's text. Any thread.
    init(reading text: [UInt8]) throws(JSONSchemaError) {
        let check = try SchemaCheck(text: text)
        self = check.allowsAnything ? .none : .read(check)
    }
}
