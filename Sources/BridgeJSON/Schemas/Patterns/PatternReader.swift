/// Reads the characters of a regular expression.
struct PatternReader {
    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    /// Returns the next character; nil at the end.
    mutating func next() -> Unicode.Scalar? {
        guard position < scalars.count else { return nil }
        position += 1
        return scalars[position - 1]
    }

    func isAt(_ scalar: Unicode.Scalar) -> Bool { position < scalars.count && scalars[position] == scalar }

    /// Skips a character if it is the next one. Returns whether it was.
    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard isAt(scalar) else { return false }
        position += 1
        return true
    }

    /// Skips everything up to and including the next such character. Returns false if there is none.
    mutating func skip(through scalar: Unicode.Scalar) -> Bool {
        guard let index = scalars[position...].firstIndex(of: scalar) else { return false }
        position = index + 1
        return true
    }

    /// Returns the characters between braces; nil, without reading, if there are no braces.
    mutating func inBraces() -> String? {
        guard isAt("{"), let end = scalars[position...].firstIndex(of: "}") else { return nil }
        defer { position = end + 1 }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars[(position + 1)..<end])
        return text
    }

    /// Reads a number of exactly `count` hexadecimal digits; nil, without reading, if these are not digits.
    mutating func hex(_ count: Int) -> UInt32? {
        guard position + count <= scalars.count else { return nil }
        var value: UInt32 = 0
        for scalar in scalars[position..<(position + count)] {
            guard let digit = Self.hexDigit(scalar) else { return nil }
            value = value << 4 | digit
        }
        position += count
        return value
    }

    private static func hexDigit(_ scalar: Unicode.Scalar) -> UInt32? {
        switch scalar {
        case "0"..."9": scalar.value - 0x30
        case "a"..."f": scalar.value - 0x61 + 10
        case "A"..."F": scalar.value - 0x41 + 10
        default: nil
        }
    }

    /// Reads the bounds of a quantifier, after its opening brace; nil, without reading, if it is not a quantifier. The
    /// second bound is nil if there is no maximum. Numbers that are too large become larger than any allowed number.
    mutating func bounds() -> (low: Int, high: Int?)? {
        let start = position
        if let low = number() {
            if skip("}") { return (low, low) }
            if skip(",") {
                if skip("}") { return (low, nil) }
                if let high = number(), skip("}") { return (low, high) }
            }
        }
        position = start
        return nil
    }

    private mutating func number() -> Int? {
        var value: Int?
        while position < scalars.count, case "0"..."9" = scalars[position] {
            value = min((value ?? 0) * 10 + Int(scalars[position].value - 0x30), 1_000_000)
            position += 1
        }
        return value
    }
}
