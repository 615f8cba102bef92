import ArgumentParser

/// How long to wait: "5" or "5s", "250ms", "2m", "1h".
struct TimeLimit: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        // A year, which is longer than anybody waits and fits everywhere.
        guard let number = Double(digits), number > 0, number.isFinite,
            let unit = Self.seconds(of: argument.dropFirst(digits.count)), number * unit <= 366 * 86_400
        else { return nil }
        duration = max(.milliseconds(1), .seconds(number * unit))
    }

    private static func seconds(of unit: Substring) -> Double? {
        switch unit {
        case "ms": 0.001
        case "", "s": 1
        case "m", "min": 60
        case "h": 3_600
        default: nil
        }
    }
}
