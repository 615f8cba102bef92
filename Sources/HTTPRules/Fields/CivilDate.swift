/// A date and a time of day in UTC, in the Gregorian calendar, which is applied to all years.
struct CivilDate: Hashable {
    /// The year; 0 is the year before 1.
    var year: Int64
    /// The month, 1 to 12.
    var month: Int
    /// The day of the month, from 1.
    var day: Int
    /// The hour, 0 to 23.
    var hour = 0
    /// The minute, 0 to 59.
    var minute = 0
    /// The second, 0 to 59, or 60 for a leap second.
    var second = 0

    static let secondsOfDay: Int64 = 86_400
    /// The number of days in 400 years, after which the calendar repeats.
    private static let daysOfCycle: Int64 = 146_097
    /// The number of days from 1 March of the year 0 to 1 January 1970.
    private static let daysBefore1970: Int64 = 719_468
    /// The first and the last second that dates of HTTP can represent, in the years 0 and 9999.
    static let nameableSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Returns the number of days in a month.
    static func days(inMonth month: Int, of year: Int64) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// The number of days since the beginning of 1970. Here years begin in March, so that a leap day is the last day of
    /// its year.
    private var daysSince1970: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let cycle = (yearFromMarch - (yearFromMarch < 0 ? 399 : 0)) / 400
        let yearOfCycle = yearFromMarch - cycle * 400
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return cycle * Self.daysOfCycle + dayOfCycle - Self.daysBefore1970
    }

    /// The moment of this date. Years have at most four digits, so nothing overflows.
    var time: UnixTime {
        UnixTime(seconds: daysSince1970 * Self.secondsOfDay + Int64(hour * 3_600 + minute * 60 + second))
    }

    /// The day of the week, from 0 for Sunday to 6 for Saturday.
    var weekday: Int { Int(((daysSince1970 + 4) % 7 + 7) % 7) }
}

extension CivilDate {
    /// Creates the date of a moment. A moment before the year 0 or after the year 9999 becomes the nearest date with a
    /// four-digit year.
    init(_ time: UnixTime) {
        let seconds = min(max(time.seconds, Self.nameableSeconds.lowerBound), Self.nameableSeconds.upperBound)
        let secondOfDay = (seconds % Self.secondsOfDay + Self.secondsOfDay) % Self.secondsOfDay
        let days = (seconds - secondOfDay) / Self.secondsOfDay + Self.daysBefore1970
        let cycle = (days - (days < 0 ? Self.daysOfCycle - 1 : 0)) / Self.daysOfCycle
        let dayOfCycle = days - cycle * Self.daysOfCycle
        let leapDays = dayOfCycle / 1_460 - dayOfCycle / 36_524 + dayOfCycle / (Self.daysOfCycle - 1)
        let yearOfCycle = (dayOfCycle - leapDays) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = Int((monthFromMarch + 2) % 12) + 1
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5) + 1
        year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
        hour = Int(secondOfDay / 3_600)
        minute = Int(secondOfDay % 3_600 / 60)
        second = Int(secondOfDay % 60)
    }
}
