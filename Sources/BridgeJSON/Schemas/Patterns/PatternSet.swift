/// A set of characters in RE2's syntax: the content of the brackets of a class.
struct PatternSet {
    private(set) var content: String
    private(set) var isNegated: Bool
    /// Its contribution to the weight of a pattern: classes of many characters are many alternatives of bytes.
    private(set) var weight: Int
    /// The number of character properties in the set: in RE2 each consists of hundreds of ranges.
    private(set) var propertyCount: Int

    static let anyWeight = 4
    static let unicodeWeight = 8

    init(_ content: String, isNegated: Bool = false, weight: Int = 1, propertyCount: Int = 0) {
        (self.content, self.isNegated, self.weight) = (content, isNegated, weight)
        self.propertyCount = propertyCount
    }

    /// The set as an expression of its own.
    var expression: String {
        if content.isEmpty { return isNegated ? #"[\x{0}-\x{10FFFF}]"# : #"[^\x{0}-\x{10FFFF}]"# }
        return "[\(isNegated ? "^" : "")\(content)]"
    }

    /// Returns a character in RE2's syntax, in a class or outside of one.
    static func literal(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "0"..."9", "a"..."z", "A"..."Z": String(scalar)
        default: #"\x{\#(String(scalar.value, radix: 16))}"#
        }
    }

    private static let space =
        #"\t\n\v\f\r\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"#
    /// All characters except those.
    private static let noSpace =
        #"\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}"#
        + #"\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"#

    // MARK: Escapes

    enum Escape {
        case scalar(Unicode.Scalar)
        case set(PatternSet)
    }

    /// Reads the escape after a backslash. The caller handles `b` and `B`, which differ inside and outside of a class.
    static func readEscape(_ reader: inout PatternReader) throws(PatternError) -> Escape {
        guard let scalar = reader.next() else { throw PatternError("it ends with a \\") }
        switch scalar {
        case "d": return .set(PatternSet(#"\d"#))
        case "D": return .set(PatternSet(#"\D"#, weight: unicodeWeight))
        case "w": return .set(PatternSet(#"\w"#))
        case "W": return .set(PatternSet(#"\W"#, weight: unicodeWeight))
        case "s": return .set(PatternSet(space, weight: unicodeWeight))
        case "S": return .set(PatternSet(noSpace, weight: unicodeWeight))
        case "p", "P": return .set(try UnicodeProperty.read(&reader, isNegated: scalar == "P"))
        case "t": return .scalar("\t")
        case "n": return .scalar("\n")
        case "v": return .scalar("\u{B}")
        case "f": return .scalar("\u{C}")
        case "r": return .scalar("\r")
        case "c", "x", "u", "0"..."9": return .scalar(try readCode(scalar, &reader))
        case "k": throw PatternError("backreferences are not supported")
        default:
            guard scalar.isASCII, !scalar.properties.isAlphabetic else {
                throw PatternError("there is no escape \\\(scalar)")
            }
            return .scalar(scalar)
        }
    }

    /// Reads a character given by its code.
    private static func readCode(
        _ kind: Unicode.Scalar, _ reader: inout PatternReader
    ) throws(PatternError) -> Unicode.Scalar {
        let code: UInt32?
        switch kind {
        case "c":
            let letter = reader.next()
            code = letter.flatMap { $0.isASCII && $0.properties.isAlphabetic ? $0.value & 31 : nil }
        case "x": code = reader.hex(2)
        case "u": code = try readUnicode(&reader)
        case "0":
            if let digit = reader.next(), case "0"..."9" = digit { throw PatternError("there are no octal escapes") }
            code = 0
        default: throw PatternError("backreferences are not supported")
        }
        guard let code, let scalar = Unicode.Scalar(code) else {
            throw PatternError("an escape \\\(kind) is not a character")
        }
        return scalar
    }

    private static func readUnicode(_ reader: inout PatternReader) throws(PatternError) -> UInt32? {
        if let digits = reader.inBraces() { return UInt32(digits, radix: 16) }
        guard let unit = reader.hex(4) else { return nil }
        guard (0xD800...0xDBFF).contains(unit) else { return unit }
        guard reader.skip("\\"), reader.skip("u"), let low = reader.hex(4), (0xDC00...0xDFFF).contains(low) else {
            throw PatternError("a lone surrogate is not a character")
        }
        return 0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF)
    }

    // MARK: Classes

    /// Reads a class, after its opening bracket.
    static func readClass(_ reader: inout PatternReader) throws(PatternError) -> PatternSet {
        var set = PatternSet("", isNegated: reader.skip("^"))
        if set.isNegated { set.weight = unicodeWeight }
        while !reader.skip("]") {
            guard case .scalar(let low)? = try set.addItem(&reader) else { continue }
            guard reader.skip("-") else {
                set.add(low, low)
                continue
            }
            if reader.isAt("]") {
                set.add(low, low)
                set.add("-", "-")
            } else if case .scalar(let high)? = try set.addItem(&reader) {
                guard low <= high else { throw PatternError("the range \(low)-\(high) is in the wrong order") }
                set.add(low, high)
            } else {
                // `[a-\d]` is not a range.
                set.add(low, low)
                set.add("-", "-")
            }
        }
        return set
    }

    private mutating func add(_ low: Unicode.Scalar, _ high: Unicode.Scalar) {
        content += Self.literal(low) + (low == high ? "" : "-" + Self.literal(high))
        if !high.isASCII { weight = Self.unicodeWeight }
    }

    /// Reads one item of a class. Adds a set and returns nil; returns a character.
    private mutating func addItem(_ reader: inout PatternReader) throws(PatternError) -> Escape? {
        guard let scalar = reader.next() else { throw PatternError("a class does not end") }
        guard scalar == "\\" else { return .scalar(scalar) }
        if reader.skip("b") { return .scalar("\u{8}") }
        let escape = try Self.readEscape(&reader)
        guard case .set(let set) = escape else { return escape }
        guard !set.isNegated else {
            throw PatternError("a negated property of several categories cannot be part of a class")
        }
        content += set.content
        weight = max(weight, set.weight)
        propertyCount += set.propertyCount
        return nil
    }
}
