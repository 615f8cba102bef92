/// Dates of the attribute `Expires`, as draft-ietf-httpbis-rfc6265bis-22, section 5.1.1, reads them: any order, any
/// separators, as long as a time, a day, a month and a year are there.
public enum CookieDate {
    /// The most bytes that are looked at: an attribute is not longer.
    public static let maximumBytes = SetCookie.maximumAttributeBytes

    /// The moment that a date says; nil where it says none.
    ///
    /// - Parameter bytes: The date.
    public static func read(_ bytes: some Collection<UInt8>) -> UnixTime? {
        guard bytes.count <= maximumBytes else { return nil }
        var fields = Fields()
        for token in Array(bytes).split(whereSeparator: isDelimiter) { fields.take(token) }
        return fields.moment
    }

    /// What divides a date: a tab, and all printable characters but digits, letters and the colon.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The parts of a date as they are found.
    private struct Fields {
        private var time: (hour: Int64, minute: Int64, second: Int64)?
        private var day: Int64?
        private var month: Int64?
        private var year: Int64?

        /// Takes a token as the first part that it can be and that is not there yet.
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

        /// The moment, where all parts are there and such a date exists.
        var moment: UnixTime? {
            guard let time, let day, let month, var year else { return nil }
            if (70...99).contains(year) { year += 1900 } else if year < 70 { year += 2000 }
            guard year >= 1601, time.hour <= 23, time.minute <= 59, time.second <= 59 else { return nil }
            guard day >= 1, day <= CivilDay.count(ofMonth: month, year: year) else { return nil }
            let days = CivilDay.number(year: year, month: month, day: day)
            return UnixTime(seconds: ((days * 24 + time.hour) * 60 + time.minute) * 60 + time.second)
        }

        /// A number of so many digits, with anything but a digit behind.
        private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int64? {
            let text = token.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard digits.contains(text.count) else { return nil }
            return text.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }

        /// Three numbers with colons between.
        private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int64, minute: Int64, second: Int64)? {
            let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].count <= 2, parts[1].count <= 2,
                let hour = whole(parts[0]), let minute = whole(parts[1]), let second = number(parts[2], digits: 1...2)
            else { return nil }
            return (hour, minute, second)
        }

        /// A number of one or two digits and nothing else.
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
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// Their names in lower case.
    private static let monthNames = months.map { Array($0.lowercased().utf8) }
    /// The first day of 1970 was a Thursday.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    /// The moments that the form can say, and that are read again: 1601 to 9999.
    private static let writable: ClosedRange<Int64> = -11_644_473_600...253_402_300_799

    /// The date as `Fri, 07 Aug 2026 08:04:19 GMT` (RFC 9110, section 5.6.7). Moments before 1601 and after 9999 are
    /// written as the first and the last between.
    ///
    /// - Parameter time: The moment.
    public static func write(_ time: UnixTime) -> String {
        let seconds = min(max(time.seconds, writable.lowerBound), writable.upperBound)
        let second = (seconds % 86400 + 86400) % 86400
        let days = (seconds - second) / 86400
        let (year, month, day) = CivilDay.date(days)
        let weekday = weekdays[Int((days % 7 + 7) % 7)]
        let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekday), \(padded(day, 2)) \(months[Int(month) - 1]) \(padded(year, 4)) \(clock) GMT"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
    }
}

/// Days of the Gregorian calendar, counted from 1970. Years begin in March here, so that the day of a leap year is
/// last.
private enum CivilDay {
    /// The number of a date.
    static func number(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    /// The date of a number, from the year 1 on.
    static func date(_ number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = number + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// How many days a month has.
    static func count(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
