// Names for generated code: any text is converted to an identifier, and no identifier is used twice.

/// The words of a name: "persistence.create" has two, as has "closeWeb".
enum NameWords {
    static func split(_ text: String) -> [String] {
        var words: [String] = []
        var before: Kind = .other
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let kind = Kind(scalar)
            let next = index + 1 < scalars.count ? Kind(scalars[index + 1]) : .other
            // "closeWeb" is split before the W, "URLOpen" before the O.
            let beginsWord =
                before == .other || (kind == .capital && before != .capital)
                || (kind == .capital && before == .capital && next == .small)
            if kind != .other {
                if beginsWord { words.append("") }
                words[words.count - 1].unicodeScalars.append(scalar)
            }
            before = kind
        }
        return words
    }

    private enum Kind {
        case small, capital, digit, other

        /// Only ASCII: other letters are not allowed in identifiers of all languages, and some look alike.
        init(_ scalar: Unicode.Scalar) {
            switch scalar {
            case "a"..."z": self = .small
            case "A"..."Z": self = .capital
            case "0"..."9": self = .digit
            default: self = .other
            }
        }
    }

    /// Returns the words of a name; the first may begin an identifier.
    private static func identifier(_ text: String) -> [String] {
        let words = split(text)
        guard let first = words.first?.utf8.first else { return ["task"] }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) ? ["task"] + words : words
    }

    /// `persistenceCreate`
    static func camel(_ text: String) -> String {
        let words = identifier(text)
        return words[0].lowercased() + words.dropFirst().map(capitalised).joined()
    }

    /// `PersistenceCreate`
    static func pascal(_ text: String) -> String { identifier(text).map(capitalised).joined() }

    /// Returns words to append to a name: `Create`, `2`; may be empty.
    static func suffix(_ text: String) -> String { split(text).map(capitalised).joined() }

    /// `persistence_create`
    static func snake(_ text: String) -> String { identifier(text).map { $0.lowercased() }.joined(separator: "_") }

    private static func capitalised(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
}

/// The names that are used in one module.
struct GeneratedNames {
    private var taken: Set<String>
    /// The last number that was appended to each name.
    private var lastNumber: [String: Int] = [:]

    /// - Parameter reserved: Words of the language, and names that the module imports.
    init(reserved: Set<String>) { taken = reserved }

    /// Reserves an unused name: the requested one, or that name with a number appended.
    ///
    /// - Parameter endings: Suffixes that other names use; the name with each of them must be unused, too.
    mutating func take(_ wanted: String, endings: [String] = []) -> String {
        var name = wanted
        var number = lastNumber[wanted] ?? 1
        while ([""] + endings).contains(where: { taken.contains(name + $0) }) {
            number += 1
            name = wanted + (wanted.last?.isNumber == true ? "_" : "") + String(number)
        }
        lastNumber[wanted] = number
        for ending in [""] + endings { taken.insert(name + ending) }
        return name
    }
}
