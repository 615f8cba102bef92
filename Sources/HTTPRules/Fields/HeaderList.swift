/// Header fields in their order, duplicates among them. Names are looked up without case.
///
/// A lookup passes all fields once. Who takes fields from strangers bounds them with ``maximumLines`` and
/// ``maximumBytes``.
public struct HeaderList: Hashable, Sendable {
    /// How many fields a message may have: a page of a large site has about 60.
    public static let maximumLines = 256
    /// How many bytes the fields of a message may have in all: eight times the 8 KiB that most servers take.
    public static let maximumBytes = 65_536

    private var fields: [HeaderField] = []

    /// No fields.
    public init() {}

    /// These fields.
    ///
    /// - Parameter fields: In their order.
    public init(_ fields: some Sequence<HeaderField>) { self.fields = Array(fields) }

    /// How many bytes all take in HTTP/1.1, with colons, spaces and line ends.
    public var byteCount: Int { fields.reduce(0) { $0 + $1.byteCount } }

    /// The first value of a name; nil where there is none.
    ///
    /// - Parameter name: In any case.
    public func first(named name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The values of a name, in their order.
    ///
    /// - Parameter name: In any case.
    public func values(named name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Whether there is a field of this name.
    ///
    /// - Parameter name: In any case.
    public func contains(named name: String) -> Bool { fields.contains { $0.isNamed(name) } }

    /// The values of a name as one, with `, ` between them: RFC 9110, section 5.3. Values of `Set-Cookie` cannot be
    /// joined: there the first is returned. Nil where there is no field of this name.
    ///
    /// - Parameter name: In any case.
    public func combined(named name: String) -> String? {
        let values = values(named: name)
        if FieldText.isSame(name, FieldName.setCookie) { return values.first }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The members of a list field, of all its lines in their order: RFC 9110, section 5.6.1. Empty ones are left away.
    ///
    /// - Parameter name: In any case.
    public func members(named name: String) -> [String] {
        fields.lazy.filter { $0.isNamed(name) }.flatMap { FieldScanner.members(of: $0.value) }
    }

    /// Adds a field behind all others.
    ///
    /// - Parameter field: The field.
    public mutating func append(_ field: HeaderField) { fields.append(field) }

    /// Adds a field behind all others; returns false, and adds none, where name or value is not allowed.
    ///
    /// - Parameters:
    ///   - name: A token.
    ///   - value: Without CR, LF and NUL.
    public mutating func append(name: String, value: String) -> Bool {
        guard let field = HeaderField(name: name, value: value) else { return false }
        fields.append(field)
        return true
    }

    /// Adds the fields of another list behind all others.
    ///
    /// - Parameter other: The other list.
    public mutating func append(contentsOf other: HeaderList) { fields += other.fields }

    /// Removes all fields of a name.
    ///
    /// - Parameter name: In any case.
    public mutating func remove(named name: String) { fields.removeAll { $0.isNamed(name) } }

    /// Removes the fields that fulfil a condition.
    ///
    /// - Parameter shouldBeRemoved: The condition.
    public mutating func removeAll(where shouldBeRemoved: (HeaderField) -> Bool) {
        fields.removeAll(where: shouldBeRemoved)
    }

    /// Has one field of this name, in place of the first that there was; others of the name go.
    ///
    /// - Parameter field: The field.
    public mutating func set(_ field: HeaderField) {
        guard let index = fields.firstIndex(where: { $0.isNamed(field.name) }) else { return append(field) }
        fields[index] = field
        fields[(index + 1)...].removeAll { $0.isNamed(field.name) }
    }

    /// Has one field of this name, whose value is of this module's own making.
    mutating func set(_ name: String, _ value: String) { set(HeaderField(trusted: name, value)) }
}

/// The fields as bytes, for a store.
extension HeaderList {
    /// A line of HTTP/1.1 for each field, with its end.
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

    /// What ``bytes`` made; nil where a line is no field.
    ///
    /// - Parameter bytes: Lines.
    public init?(bytes: some Collection<UInt8>) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let field = HeaderField(line: Array(line)) else { return nil }
            fields.append(field)
        }
    }
}

extension HeaderList: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { fields.startIndex }
    /// How many fields there are.
    public var endIndex: Int { fields.endIndex }

    /// The field at a place.
    ///
    /// - Parameter position: From 0.
    public subscript(position: Int) -> HeaderField { fields[position] }
}
