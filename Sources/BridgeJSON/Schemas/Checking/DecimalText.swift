/// The mathematical value of a number of JSON's grammar, read from its text: 0.d₁d₂d₃… × 10^exponent, where d₁ is not
/// 0.
struct DecimalText {
    let isNegative: Bool
    /// The power of ten; 0 if the number is 0.
    let exponent: Int
    /// The text from the first to the last digit that is not 0, which may contain a point. Empty if the number is 0.
    private let significant: UnsafeRawBufferPointer
    /// The number of these digits.
    let digitCount: Int

    /// The maximum number of digits of an exponent, without leading zeros: its sum with a length is then exact.
    static let maximumExponentDigits = 15
    /// The maximum number of digits of a divisor: a remainder times ten plus a digit then fits into 64 bits.
    static let maximumDivisorDigits = 18

    /// Creates the value; nil if the exponent has too many digits.
    ///
    /// - Parameter text: A number of JSON's grammar.
    init?(_ text: UnsafeRawBufferPointer) {
        isNegative = text[0] == UInt8(ascii: "-")
        let end = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.count
        let point = text[..<end].firstIndex(of: UInt8(ascii: ".")) ?? end
        func isDigitOfValue(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "1") < 9 }
        guard let first = text[..<end].firstIndex(where: isDigitOfValue),
            let last = text[..<end].lastIndex(where: isDigitOfValue)
        else {
            (exponent, significant, digitCount) = (0, UnsafeRawBufferPointer(rebasing: text[..<0]), 0)
            return
        }
        guard let written = Self.exponent(text[end...].dropFirst()) else { return nil }
        significant = UnsafeRawBufferPointer(rebasing: text[first...last])
        digitCount = significant.count - (first < point && point < last ? 1 : 0)
        // There are `point - first` digits before the point, or `first - point - 1` zeros after it.
        exponent = written + (first < point ? point - first : point - first + 1)
    }

    private static func exponent(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let sign = text.first else { return 0 }
        let digits = text.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }.drop { $0 == UInt8(ascii: "0") }
        guard digits.count <= maximumExponentDigits else { return nil }
        let magnitude = digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
        return sign == UInt8(ascii: "-") ? -magnitude : magnitude
    }

    var isZero: Bool { digitCount == 0 }
    /// Whether the number has no fraction.
    var isInteger: Bool { digitCount <= exponent || isZero }

    private func forEachDigit(_ body: (UInt8) -> Void) {
        for byte in significant where byte != UInt8(ascii: ".") { body(byte &- UInt8(ascii: "0")) }
    }

    /// Compares two numbers: -1 for less, 0 for equal, 1 for greater.
    func order(with other: DecimalText) -> Int {
        let (sign, otherSign) = (isZero ? 0 : isNegative ? -1 : 1, other.isZero ? 0 : other.isNegative ? -1 : 1)
        if sign != otherSign || sign == 0 { return (sign - otherSign).signum() }
        return sign * magnitudeOrder(with: other)
    }

    private func magnitudeOrder(with other: DecimalText) -> Int {
        if exponent != other.exponent { return exponent < other.exponent ? -1 : 1 }
        var (left, right) = (significant.makeIterator(), other.significant.makeIterator())
        func digit(_ iterator: inout UnsafeRawBufferPointer.Iterator) -> UInt8? {
            let byte = iterator.next()
            return byte == UInt8(ascii: ".") ? iterator.next() : byte
        }
        while true {
            switch (digit(&left), digit(&right)) {
            case (nil, nil): return 0
            // The last digit is not 0.
            case (nil, _): return -1
            case (_, nil): return 1
            case (let one?, let two?): if one != two { return one < two ? -1 : 1 }
            }
        }
    }

    /// Produces the same hash for equal numbers.
    func hash(into hasher: inout Hasher) {
        hasher.combine(isZero ? false : isNegative)
        hasher.combine(exponent)
        forEachDigit { hasher.combine($0) }
    }

    /// The digits as an integer; nil if there are too many.
    var digits: UInt64? {
        guard digitCount <= Self.maximumDivisorDigits else { return nil }
        var value: UInt64 = 0
        forEachDigit { value = value * 10 + UInt64($0) }
        return value
    }

    /// Whether this is an exact multiple of another number.
    ///
    /// - Parameter divisor: Not 0, with at most ``maximumDivisorDigits`` digits.
    func isMultiple(of divisor: DecimalText) -> Bool {
        if isZero { return true }
        guard let modulus = divisor.digits, modulus > 0 else { return false }
        // Both are an integer that does not end with 0, times a power of ten.
        let power = (exponent - digitCount) - (divisor.exponent - divisor.digitCount)
        // Otherwise the divisor would contain a higher power of ten than this number.
        guard power >= 0 else { return false }
        var remainder: UInt64 = 0
        forEachDigit { remainder = (remainder * 10 + UInt64($0)) % modulus }
        return Self.product(remainder, Self.powerOfTen(power, modulus), modulus) == 0
    }

    private static func product(_ left: UInt64, _ right: UInt64, _ modulus: UInt64) -> UInt64 {
        // Both are less than the modulus, so the quotient fits.
        modulus.dividingFullWidth(left.multipliedFullWidth(by: right)).remainder
    }

    private static func powerOfTen(_ exponent: Int, _ modulus: UInt64) -> UInt64 {
        var (result, square, rest) = (1 % modulus, 10 % modulus, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = product(result, square, modulus) }
            square = product(square, square, modulus)
            rest >>= 1
        }
        return result
    }
}
