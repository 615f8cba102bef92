/// Translates the names of character properties from ECMA-262 to RE2.
enum UnicodeProperty {
    /// Reads the name after `\p` or `\P`.
    static func read(_ reader: inout PatternReader, isNegated: Bool) throws(PatternError) -> PatternSet {
        guard let name = reader.inBraces() else { throw PatternError("a name in braces must follow \\p and \\P") }
        let sign = isNegated ? "P" : "p"
        if let value = value(of: ["Script", "sc"], in: name) {
            // RE2 would read a ^ as a negation.
            guard value.utf8.allSatisfy(isLetter) else { throw unknown(name) }
            // RE2 refuses an unknown script. It would interpret a name of two letters or fewer as a category.
            guard value.utf8.count > 2, value != "Any" else { throw unknown(name) }
            return PatternSet(#"\\#(sign){\#(value)}"#, weight: PatternSet.unicodeWeight, propertyCount: 1)
        }
        let category = value(of: ["General_Category", "gc"], in: name) ?? name
        if let short = shortName(of: category) {
            return PatternSet(#"\\#(sign){\#(short)}"#, weight: PatternSet.unicodeWeight, propertyCount: 1)
        }
        switch category {
        case "LC", "Cased_Letter":
            return PatternSet(
                #"\p{Lu}\p{Ll}\p{Lt}"#, isNegated: isNegated, weight: PatternSet.unicodeWeight, propertyCount: 3)
        case "ASCII" where category == name:
            return PatternSet(#"\x{0}-\x{7f}"#, isNegated: isNegated, weight: isNegated ? PatternSet.unicodeWeight : 1)
        case "ASCII_Hex_Digit" where category == name, "AHex" where category == name:
            return PatternSet("0-9A-Fa-f", isNegated: isNegated, weight: isNegated ? PatternSet.unicodeWeight : 1)
        case "Any" where category == name:
            return PatternSet(#"\x{0}-\x{10FFFF}"#, isNegated: isNegated, weight: PatternSet.anyWeight)
        default: throw unknown(name)
        }
    }

    /// Whether the byte may be part of the name of a script.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
    }

    private static func unknown(_ name: String) -> PatternError {
        PatternError(#"the property \p{\#(name)} is not supported; general categories and Script=… are"#)
    }

    private static func value(of keys: [String], in name: String) -> String? {
        guard let sign = name.unicodeScalars.firstIndex(of: "="), keys.contains(String(name[..<sign])) else {
            return nil
        }
        return String(name.unicodeScalars[name.unicodeScalars.index(after: sign)...])
    }

    private static func shortName(of category: String) -> String? {
        categories.first { $0.0 == category || $0.1 == category }?.0
    }

    /// Without `C` and `Cn`, which contain other characters in RE2 than in ECMA-262.
    private static let categories = [
        ("L", "Letter"), ("Lu", "Uppercase_Letter"), ("Ll", "Lowercase_Letter"), ("Lt", "Titlecase_Letter"),
        ("Lm", "Modifier_Letter"), ("Lo", "Other_Letter"), ("M", "Mark"), ("M", "Combining_Mark"),
        ("Mn", "Nonspacing_Mark"), ("Mc", "Spacing_Mark"), ("Me", "Enclosing_Mark"), ("N", "Number"),
        ("Nd", "Decimal_Number"), ("Nd", "digit"), ("Nl", "Letter_Number"), ("No", "Other_Number"),
        ("P", "Punctuation"), ("P", "punct"), ("Pc", "Connector_Punctuation"), ("Pd", "Dash_Punctuation"),
        ("Ps", "Open_Punctuation"), ("Pe", "Close_Punctuation"), ("Pi", "Initial_Punctuation"),
        ("Pf", "Final_Punctuation"), ("Po", "Other_Punctuation"), ("S", "Symbol"), ("Sm", "Math_Symbol"),
        ("Sc", "Currency_Symbol"), ("Sk", "Modifier_Symbol"), ("So", "Other_Symbol"), ("Z", "Separator"),
        ("Zs", "Space_Separator"), ("Zl", "Line_Separator"), ("Zp", "Paragraph_Separator"), ("Cc", "Control"),
        ("Cc", "cntrl"), ("Cf", "Format"), ("Co", "Private_Use"),
    ]
}
