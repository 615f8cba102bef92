import TaskKit

/// The order of a query's records: by its fields one after the other, then by the key, so that no two records share a
/// position.
struct Ordering: Sendable {
    private struct Field: Sendable {
        var path: FieldPath
        var isDescending: Bool
    }

    private var fields: [Field] = []
    /// The fields as the caller wrote them, for the fingerprint of the cursor.
    private(set) var texts: [String] = []

    /// Creates the order by key alone.
    init() {}

    /// - Parameter json: A field, or a list of fields; a leading `-` means descending.
    /// - Throws: `options.invalid` with the path in the options.
    init(parsing json: JSON) throws(BridgeError) {
        let items: [(path: String, value: JSON)]
        switch json {
        case .string: items = [("$.order", json)]
        case .array(let values): items = values.enumerated().map { ("$.order[\($0)]", $1) }
        default: throw .unfit("$.order", expected: "string or array", got: json.typeName)
        }
        guard items.count <= Limits.orderFields else {
            throw .unfit("$.order", expected: "at most \(Limits.orderFields) fields", got: "\(items.count)")
        }
        for (path, value) in items {
            guard case .string(let text) = value else { throw .unfit(path, expected: "string", got: value.typeName) }
            let isDescending = text.utf8.first == UInt8(ascii: "-")
            // A scalar, not a character: a name that begins with a combining character forms one with the hyphen.
            guard let field = FieldPath(parsing: isDescending ? String(text.unicodeScalars.dropFirst()) : text) else {
                throw .unfit(path, expected: "a field's name, its parts joined by dots", got: "\"\(text)\"")
            }
            fields.append(Field(path: field, isDescending: isDescending))
            texts.append(text)
        }
    }

    var isByKeyAlone: Bool { fields.isEmpty }

    /// Returns a record's position.
    func position(of record: JSON, key: [UInt8]) -> Position {
        Position(values: fields.map { SortValue($0.path.value(in: record)) }, key: key)
    }

    /// Whether a position comes before another.
    func precedes(_ left: Position, _ right: Position) -> Bool {
        for (index, field) in fields.enumerated() {
            let order = left.values[index].order(to: right.values[index])
            if order != .same { return order == (field.isDescending ? .after : .before) }
        }
        return Comparison.compareBytes(left.key, right.key) == .before
    }

    /// A position in the order.
    struct Position: Sendable, Equatable {
        /// The values, one for each field.
        var values: [SortValue]
        var key: [UInt8]
    }
}
