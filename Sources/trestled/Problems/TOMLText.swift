// Values in TOML syntax, for messages, the sample and documentation.
import TOMLDocument

enum TOMLText {
    /// Returns a basic string in quotes; every character that could break a line is escaped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\r": quoted += "\\r"
            default:
                if isPrintable(scalar) {
                    quoted.unicodeScalars.append(scalar)
                } else {
                    quoted += "\\U" + padded(String(scalar.value, radix: 16, uppercase: true), to: 8)
                }
            }
        }
        return quoted + "\""
    }

    /// Returns a key for use in a dotted path: bare if TOML allows that, else quoted.
    static func key(_ key: String) -> String {
        let isBare = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isBare && !key.isEmpty ? key : quoted(key)
    }

    /// Returns `prefix.key`, or only the key at the top level.
    static func path(_ prefix: String, _ key: String) -> String {
        prefix.isEmpty ? self.key(key) : "\(prefix).\(self.key(key))"
    }

    /// Describes a value in a few words: `the string "abc"`, `the integer 12`, `a table`.
    static func named(_ value: TOMLValue) -> String {
        switch value.content {
        case .string(let text): "the string \(quoted(shortened(text)))"
        case .integer(let integer): "the integer \(integer)"
        case .float(let number): "the float \(number)"
        case .boolean(let boolean): "\(boolean)"
        case .date(let text): "the date \(text)"
        case .array: "an array"
        case .table: "a table"
        }
    }

    /// Shortens a string to a length that fits into an error message.
    private static func shortened(_ text: String) -> String {
        let longest = 60
        return text.count > longest ? text.prefix(longest) + "…" : text
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    private static func padded(_ digits: String, to width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
