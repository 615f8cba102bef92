// The values of a document.

/// A position in a document, counted from 1; columns count characters (Unicode scalars).
public struct TOMLPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int

    /// Creates a position from its line and column, both counted from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Returns whether the left position is earlier in the document.
    public static func < (left: TOMLPosition, right: TOMLPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `line:column`.
    public var description: String { "\(line):\(column)" }
}

/// A value and its position.
public struct TOMLValue: Sendable, Hashable {
    /// The type and content of a value.
    public enum Content: Sendable, Hashable {
        case string(String)
        case integer(Int64)
        /// May be infinite or not a number: TOML has both.
        case float(Double)
        case boolean(Bool)
        /// A date, a time, or both, in RFC 3339's form.
        case date(String)
        case array([TOMLValue])
        case table(TOMLTable)
    }

    /// The type and content.
    public let content: Content
    /// The start of the value. For a table opened by a header, the position of the header.
    public let position: TOMLPosition

    /// Creates a value at a position.
    public init(_ content: Content, at position: TOMLPosition) {
        self.content = content
        self.position = position
    }

    /// The name of the value's type: "string", "integer", "float", "boolean", "date", "array" or "table".
    public var typeName: String {
        switch content {
        case .string: "string"
        case .integer: "integer"
        case .float: "float"
        case .boolean: "boolean"
        case .date: "date"
        case .array: "array"
        case .table: "table"
        }
    }

    /// The string; `nil` for a value of another type.
    public var string: String? {
        if case .string(let string) = content { string } else { nil }
    }

    /// The boolean; `nil` for a value of another type.
    public var boolean: Bool? {
        if case .boolean(let boolean) = content { boolean } else { nil }
    }

    /// The integer; `nil` for a value of another type.
    public var integer: Int64? {
        if case .integer(let integer) = content { integer } else { nil }
    }

    /// The items; `nil` for a value of another type.
    public var array: [TOMLValue]? {
        if case .array(let items) = content { items } else { nil }
    }

    /// The table; `nil` for a value of another type.
    public var table: TOMLTable? {
        if case .table(let table) = content { table } else { nil }
    }
}

/// A table: keys with their values, in the order in which the document has them. No key occurs twice.
public struct TOMLTable: Sendable, Hashable {
    /// One key with its value.
    public struct Entry: Sendable, Hashable {
        /// The key, unquoted.
        public let key: String
        /// The position of the key.
        public let keyPosition: TOMLPosition
        /// The value.
        public let value: TOMLValue

        /// Creates an entry.
        public init(key: String, keyPosition: TOMLPosition, value: TOMLValue) {
            self.key = key
            self.keyPosition = keyPosition
            self.value = value
        }
    }

    /// The entries, in order.
    public let entries: [Entry]

    /// Creates a table of these entries.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// Returns the entry of `key`; `nil` if there is none. Linear search, because configuration tables are short.
    public func entry(_ key: String) -> Entry? {
        entries.first { $0.key == key }
    }

    /// The value of `key`; `nil` if there is none.
    public subscript(key: String) -> TOMLValue? { entry(key)?.value }
}
