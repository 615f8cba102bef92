import BridgeJSON

/// What the options of a client's task are checked against.
enum OptionsSchema {
    /// Anything fits.
    case none
    case read(SchemaCheck)
    /// The task has not been called since the daemon's start.
    case unread([UInt8])

    /// - Parameter check: nil: anything fits.
    init(_ check: SchemaCheck?) { self = check.map(Self.read) ?? .none }

    /// Makes a check of a schema's text. Any thread.
    init(reading text: [UInt8]) throws(JSONSchemaError) {
        let check = try SchemaCheck(text: text)
        self = check.allowsAnything ? .none : .read(check)
    }
}
