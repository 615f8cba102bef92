/// A part of a body that a request asks for: RFC 9110, section 14.1.2.
public enum ByteRange: Hashable, Sendable {
    /// From a byte, counted from 0, to another byte, inclusive; `nil` for the end of the body.
    case bounds(first: Int64, last: Int64?)
    /// This number of bytes at the end of the body.
    case suffix(Int64)

    /// Parses a value of `Range`; `nil` if it asks for several ranges, uses another unit, or is invalid.
    ///
    /// - Parameter value: The value, such as `bytes=0-499`, `bytes=500-` or `bytes=-500`.
    public init?(_ value: some StringProtocol) {
        var scanner = FieldScanner(value)
        guard let unit = scanner.token(), FieldText.isSame(unit, "bytes"), scanner.skip("=") else { return nil }
        scanner.skipWhitespace()
        let first = Self.number(in: &scanner)
        guard scanner.skip("-") else { return nil }
        let last = Self.number(in: &scanner)
        scanner.skipWhitespace()
        guard scanner.isAtEnd else { return nil }
        switch (first, last) {
        case (nil, nil): return nil
        case (nil, .some(let count)): self = .suffix(count)
        case (.some(let first), let last):
            if let last, last < first { return nil }
            self = .bounds(first: first, last: last)
        }
    }

    /// Reads the next digits as a number, limited to the largest number; `nil` if there are none.
    static func number(in scanner: inout FieldScanner) -> Int64? {
        let digits = scanner.prefix(while: FieldScanner.isDigit)
        guard !digits.isEmpty else { return nil }
        return digits.reduce(Int64(0)) { number, digit in
            let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(digit - 0x30))
            return isLarge || isTooLarge ? .max : sum
        }
    }

    /// Returns the bytes of a body in this range; `nil` if the body has none of them: RFC 9110, section 14.1.2.
    ///
    /// - Parameter length: The length of the body in bytes.
    public func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .bounds(let first, let last):
            guard first < length else { return nil }
            // A last byte after the end is limited to the end, so adding 1 is safe.
            return first..<(last.map { min($0, length - 1) + 1 } ?? length)
        case .suffix(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }

    /// The value of `Range` for this range.
    public var text: String {
        switch self {
        case .bounds(let first, let last): "bytes=\(first)-\(last.map { "\($0)" } ?? "")"
        case .suffix(let count): "bytes=-\(count)"
        }
    }
}

/// The bytes of a body that a response contains: RFC 9110, section 14.4.
public struct ContentRange: Hashable, Sendable {
    /// The bytes; `nil` if the response contains none of the requested bytes.
    public let range: Range<Int64>?
    /// The length of the whole body in bytes; `nil` if it is unknown.
    public let length: Int64?

    /// Creates a range of a body.
    ///
    /// - Parameters:
    ///   - range: The bytes; `nil` if there are none.
    ///   - length: The length of the whole body in bytes; `nil` if it is unknown.
    public init(range: Range<Int64>?, length: Int64?) {
        self.range = range
        self.length = length
    }

    /// Parses a value of `Content-Range`; `nil` if it is contradictory or invalid, or uses another unit.
    ///
    /// - Parameter value: The value, such as `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`.
    public init?(_ value: some StringProtocol) {
        var scanner = FieldScanner(value)
        guard let unit = scanner.token(), FieldText.isSame(unit, "bytes"), scanner.skip(" ") else { return nil }
        var range: Range<Int64>?
        if !scanner.skip("*") {
            guard let first = ByteRange.number(in: &scanner), scanner.skip("-"),
                let last = ByteRange.number(in: &scanner), first <= last, last < .max
            else { return nil }
            range = first..<(last + 1)
        }
        guard scanner.skip("/") else { return nil }
        var length: Int64?
        if !scanner.skip("*") {
            guard let number = ByteRange.number(in: &scanner) else { return nil }
            length = number
        }
        guard scanner.isAtEnd, range != nil || length != nil else { return nil }
        if let range, let length, length < range.upperBound { return nil }
        self.init(range: range, length: length)
    }

    /// The value of `Content-Range` for this range.
    public var text: String {
        let bytes = range.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        return "bytes \(bytes)/\(length.map { "\($0)" } ?? "*")"
    }
}
