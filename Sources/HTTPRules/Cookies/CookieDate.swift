/// Dates of the attribute `Expires`, read as in draft-ietf-httpbis-rfc6265bis-22, section 5.1.1: in any order and with
/// any separators, provided that there are a time, a day, a month and a year.
public enum CookieDate {
    /// The maximum length that is read, in bytes: the maximum length of an attribute.
    public static let maximumBytes = SetCookie.maximumAttributeBytes

    /// Parses a date; `nil` if the bytes are none.
    ///
    /// - Parameter bytes: The date.
    public static func read(_ bytes: some Collection<UInt8>) -> UnixTime? {
        guard bytes.count <= maximumBytes else { return nil }
        var fields = Fields()
        for token in Array(bytes).split(whereSeparator: isDelimiter) { fields.take(token) }
        return fields.moment
    }

    /// Returns whether a byte is a delimiter: a tab, or any printable character except digits, letters and the colon.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The parts of a date found so far.
    private struct Fields {
        private var time: (hour: Int64, minute: Int64, second: Int64)?
        private var day: Int64?
        private var month: Int64?
        private var year: Int64?

        /// Stores a token as the first missing part that it can be.
        mutating func take(_ token: ArraySlice<UInt8>) {
            if time == nil, let read = Fields.time(token) {
                time = read
            } else if day == nil, let read = Fields.number(token, digits: 1...2) {
                day = read
            } else if month == nil, let read = Fields.month(token) {
                month = read
            } else if year == nil, let read = Fields.number(token, digits: 2...4) {
                year = read
            }
        }

        /// The moment; `nil` if a part is missing or there is no such date.
        var moment: UnixTime? {
            guard let time, let day, let month, var year else { return nil }
            if (70...99).contains(year) { year += 1900 } else if year < 70 { year += 2000 }
            guard year >= 1601, time.hour <= 23, time.minute <= 59, time.second <= 59 else { return nil }
            guard day >= 1, day <= CivilDate.days(inMonth: Int(month), of: year) else { return nil }
            return CivilDate(
                year: year, month: Int(month), day: Int(day), hour: Int(time.hour), minute: Int(time.minute),
                second: Int(time.second)
            ).time
        }

        /// Reads a number with one of these numbers of digits, followed by anything except a digit.
        private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int64? {
            let text = token.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard digits.contains(text.count) else { return nil }
            return text.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }

        /// Reads three numbers separated by colons.
        private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int64, minute: Int64, second: Int64)? {
            let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2,
                let hour = whole(parts[0]), let minute = whole(parts[1]), let second = number(parts[2], digits: 1...2)
            else { return nil }
            return (hour, minute, second)
        }

        /// Reads a number of one or two digits and nothing else.
        private static func whole(_ part: ArraySlice<UInt8>) -> Int64? {
            guard part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            return number(part, digits: 1...2)
        }

        private static func month(_ token: ArraySlice<UInt8>) -> Int64? {
            guard token.count >= 3 else { return nil }
            let name = token.prefix(3).map(AddressBytes.lowercased)
            return CookieDate.monthNames.firstIndex(of: name).map { Int64($0) + 1 }
        }
    }
}

extension CookieDate {
    /// The names of the months in lower case.
    private static let monthNames = HTTPDate.months.map { Array($0.lowercased().utf8) }
    /// The moments that the form can represent and that can be read again: 1601 to 9999.
    private static let writable: ClosedRange<Int64> = -11_644_473_600...253_402_300_799

    /// Returns a date as `Fri, 07 Aug 2026 08:04:19 GMT` (RFC 9110, section 5.6.7). Moments before 1601 and after 9999
    /// are written as the first and the last in this range.
    ///
    /// - Parameter time: The moment.
    public static func write(_ time: UnixTime) -> String {
        HTTPDate.format(UnixTime(seconds: min(max(time.seconds, writable.lowerBound), writable.upperBound)))
    }
}
