/// Dates of HTTP: RFC 9110, section 5.6.7. This parses all three forms and writes one.
public enum HTTPDate {
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// Parses a date; `nil` if the text has none of the three forms. Names of months, days and the zone are accepted in
    /// any case; the zone must be GMT. The day of the week is not compared with the date.
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///   - now: The moment by which a year of two digits is completed: the result is at most 50 years later.
    public static func parse(_ text: some StringProtocol, now: UnixTime) -> UnixTime? {
        // The longest form has 33 bytes, so a longer text has none of them.
        guard text.utf8.count <= 40 else { return nil }
        var reader = DateReader(FieldText.bytes(text))
        if let date = reader.fixedDate() { return date.time }
        reader.restart()
        if let date = reader.dateOfRFC850(now: CivilDate(now)) { return date.time }
        reader.restart()
        return reader.asctimeDate()?.time
    }

    /// Returns a moment as a text of fixed length, such as `Sun, 06 Nov 1994 08:49:37 GMT`. A year has four digits: a
    /// moment outside that range becomes the nearest one within it.
    ///
    /// - Parameter time: The moment.
    public static func format(_ time: UnixTime) -> String {
        let date = CivilDate(time)
        let clock = "\(digits(date.hour)):\(digits(date.minute)):\(digits(date.second))"
        let year = digits(Int(date.year / 100)) + digits(Int(date.year % 100))
        return "\(weekdays[date.weekday]), \(digits(date.day)) \(months[date.month - 1]) \(year) \(clock) GMT"
    }

    private static func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// A reader of the bytes of a date.
private struct DateReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func restart() { position = 0 }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    mutating func fixedDate() -> CivilDate? {
        guard name(among: HTTPDate.weekdays) != nil, skip(", "), let day = number(digits: 2), skip(" "),
            let month = name(among: HTTPDate.months), skip(" "), let year = number(digits: 4), skip(" "),
            let clock = clock(), skip(" GMT"), isAtEnd
        else { return nil }
        return date(year: Int64(year), month: month + 1, day: day, clock: clock)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    mutating func dateOfRFC850(now: CivilDate) -> CivilDate? {
        guard name(among: HTTPDate.longWeekdays) != nil, skip(", "), let day = number(digits: 2), skip("-"),
            let month = name(among: HTTPDate.months), skip("-"), let year = number(digits: 2), skip(" "),
            let clock = clock(), skip(" GMT"), isAtEnd
        else { return nil }
        // The last year within the next 50 that ends in these digits. If its date is more than 50 years away, a century
        // earlier.
        let last = now.year + 50
        let full = last - ((last - Int64(year)) % 100 + 100) % 100
        guard let found = date(year: full, month: month + 1, day: day, clock: clock) else {
            return date(year: full - 100, month: month + 1, day: day, clock: clock)
        }
        if full == last, found.isLater(inYearThan: now) {
            return date(year: full - 100, month: month + 1, day: day, clock: clock)
        }
        return found
    }

    /// `Sun Nov  6 08:49:37 1994`
    mutating func asctimeDate() -> CivilDate? {
        guard name(among: HTTPDate.weekdays) != nil, skip(" "), let month = name(among: HTTPDate.months), skip(" "),
            let day = skip(" ") ? number(digits: 1) : number(digits: 2), skip(" "), let clock = clock(), skip(" "),
            let year = number(digits: 4), isAtEnd
        else { return nil }
        return date(year: Int64(year), month: month + 1, day: day, clock: clock)
    }

    private typealias Clock = (hour: Int, minute: Int, second: Int)

    private var isAtEnd: Bool { position == bytes.count }

    private func date(year: Int64, month: Int, day: Int, clock: Clock) -> CivilDate? {
        guard day >= 1, day <= CivilDate.days(inMonth: month, of: year) else { return nil }
        return CivilDate(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }

    private mutating func clock() -> Clock? {
        guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60,
            skip(":"), let second = number(digits: 2), second <= 60
        else { return nil }
        return (hour, minute, second)
    }

    private mutating func number(digits: Int) -> Int? {
        let found = bytes[position...].prefix(digits)
        guard found.count == digits, found.allSatisfy(FieldScanner.isDigit) else { return nil }
        position += digits
        return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private mutating func name(among names: [String]) -> Int? {
        for (index, name) in names.enumerated() where skip(name) { return index }
        return nil
    }

    private mutating func skip(_ text: String) -> Bool {
        let found = bytes[position...].prefix(text.utf8.count)
        guard found.count == text.utf8.count,
            zip(found, text.utf8).allSatisfy({ FieldText.lowercase($0) == FieldText.lowercase($1) })
        else { return false }
        position += text.utf8.count
        return true
    }
}

extension CivilDate {
    /// Returns whether this date is later within its year than another date within that date's year.
    fileprivate func isLater(inYearThan other: CivilDate) -> Bool {
        let mine = [month, day, hour, minute, second]
        let others = [other.month, other.day, other.hour, other.minute, other.second]
        return others.lexicographicallyPrecedes(mine)
    }
}
