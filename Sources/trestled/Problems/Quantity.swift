// Durations and sizes in the form of a configuration: "5s", "1MiB".

/// Whole numbers followed by a unit.
enum Quantity {
    /// Parses "250ms", "5s", "2m", "1h"; returns `nil` for any other text and for values too large for milliseconds.
    static func duration(_ text: String) -> Duration? {
        parse(text, durationUnits).map { .milliseconds($0) }
    }

    /// Parses "512B", "64KiB", "1MiB", "2GiB"; returns `nil` for any other text.
    static func bytes(_ text: String) -> Int? {
        parse(text, byteUnits)
    }

    /// Returns the probably intended duration of a text such as "5", "5 sec" or "2 minutes".
    static func durationMeant(_ text: String) -> Duration? {
        duration(respelt(text, durationSpellings))
    }

    /// Returns the probably intended size of a text such as "64K", "1mb" or "1 MiB".
    static func bytesMeant(_ text: String) -> Int? {
        bytes(respelt(text, byteSpellings))
    }

    /// Formats a duration of whole milliseconds in the largest unit that divides it.
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return write(Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000), durationUnits)
    }

    /// Formats a size in the largest unit that divides it.
    static func text(bytes: Int) -> String {
        write(bytes, byteUnits)
    }

    /// The units of a duration, the longest first, in milliseconds.
    private static let durationUnits: [(name: String, amount: Int)] = [
        ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]
    /// The units of a size, the largest first, in bytes.
    private static let byteUnits: [(name: String, amount: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    private static let durationSpellings = [
        "": "s", "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "ms": "ms", "msec": "ms", "m": "m",
        "min": "m", "mins": "m", "minute": "m", "minutes": "m", "h": "h", "hr": "h", "hour": "h", "hours": "h",
    ]
    private static let byteSpellings = [
        "": "B", "b": "B", "k": "KiB", "kb": "KiB", "kib": "KiB", "m": "MiB", "mb": "MiB", "mib": "MiB", "g": "GiB",
        "gb": "GiB", "gib": "GiB",
    ]

    private static func parse(_ text: String, _ units: [(name: String, amount: Int)]) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count)
        guard let count = Int(digits), let amount = units.first(where: { $0.name == unit })?.amount else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: amount)
        return overflow ? nil : product
    }

    /// Returns the same number with the correct spelling of the unit; an unknown unit stays unchanged.
    private static func respelt(_ text: String, _ spellings: [String: String]) -> String {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = String(text.dropFirst(digits.count).drop { $0 == " " })
        return digits + (spellings[unit.lowercased()] ?? unit)
    }

    private static func write(_ amount: Int, _ units: [(name: String, amount: Int)]) -> String {
        // The last unit is 1 and divides everything; 0 is written in it.
        let unit = units.first { amount != 0 && amount % $0.amount == 0 } ?? units[units.count - 1]
        return "\(amount / unit.amount)\(unit.name)"
    }
}
