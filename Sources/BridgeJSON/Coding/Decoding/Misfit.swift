/// What is thrown while a type is being read. It becomes a ``JSONMismatch`` where it leaves the coder: a type that
/// tries one form after the other throws many of these, and nobody reads their words.
struct Misfit: Error, CustomStringConvertible {
    enum Place {
        case value(Int)
        /// A member that is not there.
        case missing(String, of: Int)
        /// An element beyond the end.
        case beyondEnd(of: Int)
    }

    enum Expectation {
        case text(String)
        /// A number that the type does not hold.
        case integer(any Any.Type)
        case valueOf(any Any.Type)
        /// What a type's own decoding had to say.
        case fit(any Error)
    }

    let place: Place
    let expected: Expectation

    var description: String { "\(expected.text) was expected" }
}

extension JSONMismatch {
    init(_ misfit: Misfit, in source: DecodingSource) {
        let expected = misfit.expected.text
        switch misfit.place {
        case .value(let place):
            self.init(path: source.path(to: place).text, expected: expected, got: source.describe(place))
        case .missing(let key, let object):
            self.init(path: (source.path(to: object) + [.key(key)]).text, expected: expected, got: "nothing")
        case .beyondEnd(let array):
            let end = PathStep.index(Int(source.entry(array).length))
            self.init(path: (source.path(to: array) + [end]).text, expected: expected, got: "nothing")
        }
    }
}

extension Misfit.Expectation {
    var text: String {
        switch self {
        case .text(let text): text
        case .integer(let type as any FixedWidthInteger.Type): Self.range(of: type)
        case .integer(let type), .valueOf(let type): Self.describe(type)
        case .fit(let error): "a fitting value (\(Self.describe(error)))"
        }
    }

    private static func range<T: FixedWidthInteger>(of type: T.Type) -> String {
        "an integer from \(T.min) to \(T.max)"
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context):
            context.debugDescription
        default: "\(error)"
        }
    }

    /// What a value of a type looks like, as far as the type itself tells.
    private static func describe(_ type: any Any.Type) -> String {
        if let names = CaseNames.of(type) { return "one of: \(names.joined(separator: ", "))" }
        return switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Double.Type, is Float.Type, is JSONNumber.Type: "a number"
        case is Int.Type, is Int64.Type: "an integer"
        case let type as any FixedWidthInteger.Type: range(of: type)
        case is any JSONArrayType.Type: "an array"
        case is any JSONDictionaryType.Type, is JSONObject.Type: "an object"
        default: "a value"
        }
    }
}

extension DecodingSource {
    /// As much of a string or number as a message shows; it is the sender's, and may be as long as a message.
    private static let shownCount = 40

    /// A value in a few words: its kind, and itself where it is short.
    fileprivate func describe(_ place: Int) -> String {
        let entry = entry(place)
        switch entry.kind {
        case .null: return "null"
        case .true: return "true"
        case .false: return "false"
        case .number: return "number \(String(decoding: entry.text(in: bytes).prefix(Self.shownCount), as: UTF8.self))"
        case .string, .escapedString:
            let shown = entry.string(in: bytes).unicodeScalars.prefix(Self.shownCount)
            return "string \(JSON.string(String(shown)).text)"
        case .array: return entry.length == 0 ? "an empty array" : "an array"
        case .object: return entry.length == 0 ? "an empty object" : "an object"
        }
    }
}

/// The names of an enumeration's cases, where it lists them.
enum CaseNames {
    static func of(_ type: any Any.Type) -> [String]? {
        guard let enumeration = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return names(enumeration)
    }

    private static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> [String] {
        T.allCases.map { "\($0.rawValue)" }
    }
}
