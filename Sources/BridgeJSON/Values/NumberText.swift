/// The grammar of a number: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
struct NumberScan {
    /// Whether the scanned text is a complete number.
    private(set) var isWhole = false
    /// Whether it has neither a fraction nor an exponent.
    private(set) var isPlainInteger = false

    /// Scans bytes as long as they continue a number; returns the position after them.
    mutating func end(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        isWhole = false
        isPlainInteger = false
        var end = start
        if Self.byte(end, bytes) == UInt8(ascii: "-") { end += 1 }
        if Self.byte(end, bytes) == UInt8(ascii: "0") {
            end += 1
        } else if !Self.skipDigits(&end, bytes) {
            return end
        }
        isPlainInteger = true
        if Self.byte(end, bytes) == UInt8(ascii: ".") {
            isPlainInteger = false
            end += 1
            guard Self.skipDigits(&end, bytes) else { return end }
        }
        if Self.byte(end, bytes) | 0x20 == UInt8(ascii: "e") {
            isPlainInteger = false
            end += 1
            let sign = Self.byte(end, bytes)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { end += 1 }
            guard Self.skipDigits(&end, bytes) else { return end }
        }
        isWhole = true
        return end
    }

    /// Returns the byte at an index; 0, which is part of no number, after the last one.
    @inline(__always)
    private static func byte(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> UInt8 {
        index < bytes.count ? bytes[index] : 0
    }

    /// Skips digits. Returns whether there is at least one.
    @inline(__always)
    private static func skipDigits(_ index: inout Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let first = index
        while byte(index, bytes) &- UInt8(ascii: "0") < 10 { index += 1 }
        return index > first
    }
}

/// Converts a number's text, which matches the grammar, without creating a string. Returns nil if a string is needed.
enum NumberText {
    /// The number of digits of which 64 bits hold every value.
    private static let safeDigits = 19
    /// The limit up to which a double holds every integer exactly.
    private static let exactIntegers: UInt64 = 1 << 53

    /// Returns the integer of a text without a fraction and an exponent.
    @inline(__always)
    static func integer(_ text: UnsafeRawBufferPointer) -> (magnitude: UInt64, isNegative: Bool)? {
        let isNegative = text[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard text.count - first <= safeDigits else { return nil }
        var magnitude: UInt64 = 0
        for index in first..<text.count { magnitude = magnitude &* 10 &+ UInt64(text[index] &- UInt8(ascii: "0")) }
        return (magnitude, isNegative)
    }

    /// Returns the double of a short decimal. Exact, because its digits and the power of ten are exact as doubles, and
    /// one division rounds only once.
    static func double(_ text: UnsafeRawBufferPointer) -> Double? {
        let isNegative = text[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard text.count - first <= safeDigits + 1 else { return nil }
        var digits: UInt64 = 0
        var digitCount = 0
        var fractionCount = 0
        var isFraction = false
        for index in first..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            if digit < 10 {
                digits = digits &* 10 &+ UInt64(digit)
                digitCount += 1
                if isFraction { fractionCount += 1 }
            } else if text[index] == UInt8(ascii: ".") {
                isFraction = true
            } else {
                return nil
            }
        }
        guard digitCount <= safeDigits, digits <= exactIntegers else { return nil }
        let magnitude = Double(digits) / powerOfTen(fractionCount)
        return isNegative ? -magnitude : magnitude
    }

    /// Powers up to 22 are exact; there are at most 19 digits after the point.
    private static func powerOfTen(_ exponent: Int) -> Double {
        let powers: InlineArray<20, Double> = [
            1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        ]
        return powers[exponent]
    }
}
