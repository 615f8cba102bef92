/// The fields of a request that select a response: RFC 9111, section 4.1, and RFC 9110, section 12.5.5.
public enum Vary: Hashable, Sendable {
    /// `*`, or an invalid value: no later request matches.
    case everything
    /// These fields, in lower case, sorted, each once; if empty, every request matches.
    case fields([String])

    /// The maximum number of selecting fields: sites use about 5.
    public static let maximumFields = 64

    /// Reads the `Vary` of a response.
    ///
    /// - Parameter fields: The fields of the response.
    public init(_ fields: HeaderList) {
        let names = Set(fields.members(named: FieldName.vary).map { FieldText.lowercase($0) })
        // `*` is also a token.
        let isReadable = !names.contains("*") && names.count <= Self.maximumFields
        self = isReadable && names.allSatisfy(HeaderField.isName) ? .fields(names.sorted()) : .everything
    }
}

/// The fields of the request that selected a response, with their values in a comparable form.
public struct SelectingFields: Hashable, Sendable {
    /// One selecting field.
    struct Entry: Hashable, Sendable {
        var name: String
        /// The value; `nil` if the request had no such field.
        var value: String?
    }

    let entries: [Entry]

    /// Creates the selecting fields of a response; `nil` if it cannot be selected again: `Vary: *`.
    ///
    /// - Parameters:
    ///   - vary: The response's `Vary`.
    ///   - request: The fields of its request.
    public init?(_ vary: Vary, request: HeaderList) {
        guard case .fields(let names) = vary else { return nil }
        entries = names.map { Entry(name: $0, value: Self.comparable(request, name: $0)) }
    }

    /// Returns whether a request would select the same response: RFC 9111, section 4.1.
    ///
    /// - Parameter request: The fields of the request.
    public func fits(_ request: HeaderList) -> Bool {
        entries.allSatisfy { Self.comparable(request, name: $0.name) == $0.value }
    }

    /// Returns the value of a field in a form in which equivalent values are equal; `nil` if there is none.
    private static func comparable(_ request: HeaderList, name: String) -> String? {
        let values = request.values(named: name)
        guard !values.isEmpty else { return nil }
        switch name {
        case "accept-encoding", "accept-language": return Preferences.comparable(values)
        default:
            // Lines are joined and spaces around commas removed, as list fields permit. The syntax of other fields is
            // unknown here.
            return values.map { value in
                FieldScanner.pieces(of: FieldText.bytes(value)).map { FieldText.decode($0) }.joined(separator: ",")
            }.joined(separator: ",")
        }
    }
}

/// Conversion to text and back, for variants in a store.
extension SelectingFields {
    /// The fields as text, different for different fields: the form for a store and, hashed, the key of a variant. One
    /// line for each field: the name, a colon, and `+` with the value, or `-` if there was none.
    public var text: String {
        entries.map { "\($0.name):\($0.value.map { "+\($0)" } ?? "-")\n" }.joined()
    }

    /// Parses a result of ``text``; `nil` for any other text.
    ///
    /// - Parameter text: The text from a store.
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
