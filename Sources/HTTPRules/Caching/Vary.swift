/// Which fields of a request select a response: RFC 9111, section 4.1, and RFC 9110, section 12.5.5.
public enum Vary: Hashable, Sendable {
    /// `*`, or what cannot be read: no later request is known to fit.
    case everything
    /// These fields, in small letters, sorted, each once; none: every request fits.
    case fields([String])

    /// How many fields may select: sites name about 5.
    public static let maximumFields = 64

    /// What the `Vary` of a response says.
    ///
    /// - Parameter fields: The fields of the response.
    public init(_ fields: HeaderList) {
        let names = Set(fields.members(named: FieldName.vary).map { FieldText.lowercase($0) })
        // `*` is a token too.
        let isReadable = !names.contains("*") && names.count <= Self.maximumFields
        self = isReadable && names.allSatisfy(HeaderField.isName) ? .fields(names.sorted()) : .everything
    }
}

/// The fields of the request that a response was selected by, with their values made comparable.
public struct SelectingFields: Hashable, Sendable {
    /// One of them.
    struct Entry: Hashable, Sendable {
        var name: String
        /// Nil where the request had no such field.
        var value: String?
    }

    let entries: [Entry]

    /// Of a response to a request; nil where it cannot be selected again: `Vary: *`.
    ///
    /// - Parameters:
    ///   - vary: What the response says.
    ///   - request: The fields of its request.
    public init?(_ vary: Vary, request: HeaderList) {
        guard case .fields(let names) = vary else { return nil }
        entries = names.map { Entry(name: $0, value: Self.comparable(request, name: $0)) }
    }

    /// Whether a request would select the same response: RFC 9111, section 4.1.
    ///
    /// - Parameter request: The fields of the request.
    public func fits(_ request: HeaderList) -> Bool {
        entries.allSatisfy { Self.comparable(request, name: $0.name) == $0.value }
    }

    /// The value of a field, such that equivalent ones are equal; nil where there is none.
    private static func comparable(_ request: HeaderList, name: String) -> String? {
        let values = request.values(named: name)
        guard !values.isEmpty else { return nil }
        switch name {
        case "accept-encoding", "accept-language": return Preferences.comparable(values)
        default:
            // Lines are joined and spaces around commas dropped, as list fields allow. More is not known of a field.
            return values.map { value in
                FieldScanner.pieces(of: FieldText.bytes(value)).map { FieldText.decode($0) }.joined(separator: ",")
            }.joined(separator: ",")
        }
    }
}

/// Variants in a store.
extension SelectingFields {
    /// The fields as text, different for different ones: what a store keeps, and the key of a variant once hashed. A
    /// line for each: the name, a colon, and `+` with the value or `-` where there was none.
    public var text: String {
        entries.map { "\($0.name):\($0.value.map { "+\($0)" } ?? "-")\n" }.joined()
    }

    /// What ``text`` made; nil where it did not make this.
    ///
    /// - Parameter text: What a store has kept.
    public init?(text: String) {
        var entries: [Entry] = []
        for line in text.unicodeScalars.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":"), line.index(after: colon) < line.endIndex else { return nil }
            let rest = line[line.index(after: colon)...]
            let name = String(String.UnicodeScalarView(line[..<colon]))
            switch rest.first {
            case "-" where rest.count == 1: entries.append(Entry(name: name, value: nil))
            case "+": entries.append(Entry(name: name, value: String(String.UnicodeScalarView(rest.dropFirst()))))
            default: return nil
            }
        }
        self.entries = entries
        guard self.text == text else { return nil }
    }
}
