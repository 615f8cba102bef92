/// The text of a number, as bytes: its grammar, and its value as an integer.
enum NumberText {
    /// Goes behind a number: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    ///
    /// - Returns: false where there is none, the position then where the grammar was left.
    static func skip(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        let start = position
        if byte(bytes, position) == UInt8(ascii: "-") { position += 1 }
        if byte(bytes, position) == UInt8(ascii: "0") {
            position += 1
            if isDigit(byte(bytes, position)) { return false }
        } else if !skipDigits(bytes, &position) {
            return false
        }
        if byte(bytes, position) == UInt8(ascii: ".") {
            position += 1
            guard skipDigits(bytes, &position) else { return false }
        }
        if byte(bytes, position) | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = byte(bytes, position)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            guard skipDigits(bytes, &position) else { return false }
        }
        return position > start
    }

    @inline(__always)
    private static func byte(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    @inline(__always)
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// False where there is no digit.
    @inline(__always)
    private static func skipDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        let start = position
        while isDigit(byte(bytes, position)) { position += 1 }
        return position > start
    }

    // MARK: Integers

    /// The value of a number whose grammar has been checked, where it is whole and the type holds it; also of texts
    /// such as `1.0` and `2e3`. Exact: nothing is rounded on the way.
    @inline(__always)
    static func integer<T: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, as type: T.Type) -> T? {
        var position = 0
        let isNegative = byte(bytes, 0) == UInt8(ascii: "-")
        if isNegative { position = 1 }
        var value: T = 0
        while position < bytes.count {
            let digit = bytes[position] &- UInt8(ascii: "0")
            // A point or an exponent.
            guard digit < 10 else { return Decimal(bytes)?.integer(as: type) }
            guard let longer = append(digit, to: value, isNegative) else {
                // Too long already, unless digits behind a point or an exponent take it back: `1000e-2`.
                return bytes.contains { !isDigit($0) && $0 != UInt8(ascii: "-") }
                    ? Decimal(bytes)?.integer(as: type) : nil
            }
            value = longer
            position += 1
        }
        return value
    }

    /// A digit more; nil beyond the type. Negative values grow downwards, because the smallest one has no positive.
    @inline(__always)
    private static func append<T: FixedWidthInteger>(_ digit: UInt8, to value: T, _ isNegative: Bool) -> T? {
        let (shifted, overflows) = value.multipliedReportingOverflow(by: 10)
        let (longer, overflowsToo) =
            isNegative
            ? shifted.subtractingReportingOverflow(T(digit)) : shifted.addingReportingOverflow(T(digit))
        return overflows || overflowsToo ? nil : longer
    }

    /// A number as its significant digits and a power of ten.
    private struct Decimal {
        private let bytes: UnsafeRawBufferPointer
        /// From the first digit that is not zero to behind the last one; the point may lie among them.
        private var digits: Range<Int>
        /// The power of ten of the last significant digit.
        private var exponent: Int
        private var isNegative: Bool { bytes[0] == UInt8(ascii: "-") }

        /// Exponents beyond this are as good as this one, for no text is that long that its digits could make up for it.
        private static let largestExponent = 1 << 40

        init?(_ bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
            let end = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.count
            let point = bytes[..<end].firstIndex(of: UInt8(ascii: "."))
            let isSignificant: (UInt8) -> Bool = { NumberText.isDigit($0) && $0 != UInt8(ascii: "0") }
            guard let first = bytes[..<end].firstIndex(where: isSignificant),
                let last = bytes[..<end].lastIndex(where: isSignificant)
            else {
                (digits, exponent) = (0..<0, 0)
                return
            }
            digits = first..<last + 1
            exponent = Self.exponent(bytes[end...])
            if let point, last > point { exponent -= last - point } else { exponent += (point ?? end) - last - 1 }
        }

        private static func exponent(_ text: Slice<UnsafeRawBufferPointer>) -> Int {
            var exponent = 0
            for byte in text where NumberText.isDigit(byte) {
                exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), largestExponent)
            }
            return text.contains(UInt8(ascii: "-")) ? -exponent : exponent
        }

        func integer<T: FixedWidthInteger>(as type: T.Type) -> T? {
            guard exponent >= 0 else { return nil }
            var value: T = 0
            for byte in bytes[digits] where byte != UInt8(ascii: ".") {
                guard let longer = NumberText.append(byte - UInt8(ascii: "0"), to: value, isNegative) else {
                    return nil
                }
                value = longer
            }
            var zeros = digits.isEmpty ? 0 : exponent
            while zeros > 0 {
                guard let longer = NumberText.append(0, to: value, isNegative) else { return nil }
                value = longer
                zeros -= 1
            }
            return value
        }
    }
}
