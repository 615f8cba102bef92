// The values of a document.

/// A position in a document, counted from 1; columns count characters (Unicode scalars).
public struct TOMLPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line, the first being 1.
    public let line: Int
    /// The column, the first being 1.
    public let column: Int

    /// A position by its line and column, both from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Earlier in the document is less.
    public static func < (left: TOMLPosition, right: TOMLPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `line:column`.
    public var description: String { "\(line):\(column)" }
}

/// A value and where it stands.
public struct TOMLValue: Sendable, Hashable {
    /// What a value is.
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

    /// What the value is.
    public let content: Content
    /// Where it begins. For a table opened by a header, that is the header.
    public let position: TOMLPosition

    /// A value at a position.
    public init(_ content: Content, at position: TOMLPosition) {
        self.content = content
        self.position = position
    }

    /// The kind of the value in words: "string", "integer", "float", "boolean", "date", "array" or "table".
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

    /// The string, where it is one.
    public var string: String? {
        if case .string(let string) = content { string } else { nil }
    }

    /// The boolean, where it is one.
    public var boolean: Bool? {
        if case .boolean(let boolean) = content { boolean } else { nil }
    }

    /// The integer, where it is one.
    public var integer: Int64? {
        if case .integer(let integer) = content { integer } else { nil }
    }

    /// The items, where it is an array.
    public var array: [TOMLValue]? {
        if case .array(let items) = content { items } else { nil }
    }

    /// The table, where it is one.
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
        /// Where the key stands.
        public let keyPosition: TOMLPosition
        /// Its value.
        public let value: TOMLValue

        /// A key with its position and its value.
        public init(key: String, keyPosition: TOMLPosition, value: TOMLValue) {
            self.key = key
            self.keyPosition = keyPosition
            self.value = value
        }
    }

    /// The entries in order.
    public let entries: [Entry]

    /// A table of these entries.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// The entry of `key`. Looks through all of them: configuration tables are short.
    public func entry(_ key: String) -> Entry? {
        entries.first { $0.key == key }
    }

    /// The value of `key`.
    public subscript(key: String) -> TOMLValue? { entry(key)?.value }
}
