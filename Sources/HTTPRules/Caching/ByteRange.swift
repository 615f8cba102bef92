/// A piece of a body that a request asks for: RFC 9110, section 14.1.2.
public enum ByteRange: Hashable, Sendable {
    /// From a byte, counted from 0, to another, that one included; nil: to the end.
    case bounds(first: Int64, last: Int64?)
    /// The last bytes, so many.
    case suffix(Int64)

    /// The single range that a value of `Range` asks for; nil where it asks for several, in another unit, or for
    /// something that cannot be read.
    ///
    /// - Parameter value: Such as `bytes=0-499`, `bytes=500-` or `bytes=-500`.
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

    /// The digits that come, as a number; the largest there is where they are too many.
    static func number(in scanner: inout FieldScanner) -> Int64? {
        let digits = scanner.prefix(while: FieldScanner.isDigit)
        guard !digits.isEmpty else { return nil }
        return digits.reduce(Int64(0)) { number, digit in
            let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(digit - 0x30))
            return isLarge || isTooLarge ? .max : sum
        }
    }

    /// The bytes of a body that it means; nil where the body has none of them: RFC 9110, section 14.1.2.
    ///
    /// - Parameter length: How many bytes the body has.
    public func resolved(length: Int64) -> Range<Int64>? {
        switch self {
        case .bounds(let first, let last):
            guard first < length else { return nil }
            // A last byte behind the end is the end, so adding 1 is safe.
            return first..<(last.map { min($0, length - 1) + 1 } ?? length)
        case .suffix(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }

    /// The value of `Range` that asks for it.
    public var text: String {
        switch self {
        case .bounds(let first, let last): "bytes=\(first)-\(last.map { "\($0)" } ?? "")"
        case .suffix(let count): "bytes=-\(count)"
        }
    }
}

/// Which bytes of a body a response has: RFC 9110, section 14.4.
public struct ContentRange: Hashable, Sendable {
    /// The bytes; nil in a response that has none of those that were asked for.
    public let range: Range<Int64>?
    /// How many bytes the whole body has; nil where that is not known.
    public let length: Int64?

    /// Bytes of a body.
    ///
    /// - Parameters:
    ///   - range: The bytes; nil where there are none.
    ///   - length: How many the whole body has; nil where that is not known.
    public init(range: Range<Int64>?, length: Int64?) {
        self.range = range
        self.length = length
    }

    /// What a value of `Content-Range` says; nil where it contradicts itself or is in another unit.
    ///
    /// - Parameter value: Such as `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`.
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

    /// The value of `Content-Range` that says it.
    public var text: String {
        let bytes = range.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        return "bytes \(bytes)/\(length.map { "\($0)" } ?? "*")"
    }
}
