/// Header fields in their order, including duplicates. Names are looked up without case.
///
/// A lookup scans all fields once. Code that receives fields from untrusted peers must limit them with ``maximumLines``
/// and ``maximumBytes``.
public struct HeaderList: Hashable, Sendable {
    /// The maximum number of fields in a message. A page of a large site has about 60.
    public static let maximumLines = 256
    /// The maximum total length of the fields of a message in bytes: eight times the 8 KiB that most servers accept.
    public static let maximumBytes = 65_536

    private var fields: [HeaderField] = []

    /// Creates an empty list.
    public init() {}

    /// Creates a list of fields.
    ///
    /// - Parameter fields: The fields in their order.
    public init(_ fields: some Sequence<HeaderField>) { self.fields = Array(fields) }

    /// The length of all fields in HTTP/1.1 in bytes, with colons, spaces and line ends.
    public var byteCount: Int { fields.reduce(0) { $0 + $1.byteCount } }

    /// Returns the first value of a name; `nil` if there is none.
    ///
    /// - Parameter name: The name, in any case.
    public func first(named name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// Returns the values of a name, in their order.
    ///
    /// - Parameter name: The name, in any case.
    public func values(named name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Returns whether there is a field of this name.
    ///
    /// - Parameter name: The name, in any case.
    public func contains(named name: String) -> Bool { fields.contains { $0.isNamed(name) } }

    /// Returns the values of a name as one, separated by `, `: RFC 9110, section 5.3; `nil` if there is no field of
    /// this name. Values of `Set-Cookie` cannot be joined: for that name the first value is returned.
    ///
    /// - Parameter name: The name, in any case.
    public func combined(named name: String) -> String? {
        let values = values(named: name)
        if FieldText.isSame(name, FieldName.setCookie) { return values.first }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Returns the members of a list field, from all its lines in their order: RFC 9110, section 5.6.1. Empty members
    /// are omitted.
    ///
    /// - Parameter name: The name, in any case.
    public func members(named name: String) -> [String] {
        fields.lazy.filter { $0.isNamed(name) }.flatMap { FieldScanner.members(of: $0.value) }
    }

    /// Appends a field.
    ///
    /// - Parameter field: The field.
    public mutating func append(_ field: HeaderField) { fields.append(field) }

    /// Appends a field. Returns false, and appends nothing, if the name or the value is not allowed.
    ///
    /// - Parameters:
    ///   - name: The name, a token.
    ///   - value: The value, without CR, LF and NUL.
    public mutating func append(name: String, value: String) -> Bool {
        guard let field = HeaderField(name: name, value: value) else { return false }
        fields.append(field)
        return true
    }

    /// Appends the fields of another list.
    ///
    /// - Parameter other: The other list.
    public mutating func append(contentsOf other: HeaderList) { fields += other.fields }

    /// Removes all fields of a name.
    ///
    /// - Parameter name: The name, in any case.
    public mutating func remove(named name: String) { fields.removeAll { $0.isNamed(name) } }

    /// Removes the fields that fulfil a condition.
    ///
    /// - Parameter shouldBeRemoved: The condition.
    public mutating func removeAll(where shouldBeRemoved: (HeaderField) -> Bool) {
        fields.removeAll(where: shouldBeRemoved)
    }

    /// Sets the only field of this name. It replaces the first field of that name; all others of the name are removed.
    ///
    /// - Parameter field: The field.
    public mutating func set(_ field: HeaderField) {
        guard let index = fields.firstIndex(where: { $0.isNamed(field.name) }) else { return append(field) }
        fields[index] = field
        fields[(index + 1)...].removeAll { $0.isNamed(field.name) }
    }

    /// Sets the only field of this name to a value of this module, without checks.
    mutating func set(_ name: String, _ value: String) { set(HeaderField(trusted: name, value)) }
}

/// Conversion of the fields to bytes and back, for a store.
extension HeaderList {
    /// One line of HTTP/1.1 for each field, with its line end.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        for field in fields {
            bytes += FieldText.bytes(field.name)
            bytes += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            bytes += FieldText.bytes(field.value)
            bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
        return bytes
    }

    /// Parses the result of ``bytes``; `nil` if a line is no field.
    ///
    /// - Parameter bytes: The lines.
    public init?(bytes: some Collection<UInt8>) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let field = HeaderField(line: Array(line)) else { return nil }
            fields.append(field)
        }
    }
}

extension HeaderList: RandomAccessCollection {
    /// The index of the first field: 0.
    public var startIndex: Int { fields.startIndex }
    /// The number of fields.
    public var endIndex: Int { fields.endIndex }

    /// Returns the field at a position.
    ///
    /// - Parameter position: The position, from 0.
    public subscript(position: Int) -> HeaderField { fields[position] }
}
