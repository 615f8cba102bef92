/// What a figure may be at most, or has to be at least.
enum Bound {
    case atMost(Double)
    case atLeast(Double)
}

/// What a row came to, and what it may come to.
struct Finding {
    /// In words, for the check.
    var what: String
    var value: Double
    /// As it stands behind the value, such as " × floor".
    var unit: String
    /// How many digits behind the decimal point are significant.
    var digits = 2
    /// What is to be said besides.
    var note = ""
    /// Holds on a quiet machine, with a margin. Nil: there is no limit; the figure is for comparison.
    var bound: Bound?
    /// What is aimed at, where the limit is not that yet; it is shown beside the limit and not checked.
    var aim: Double?

    /// Whether the value is within the limit. One that is no number is not.
    var isWithin: Bool {
        switch bound {
        case nil: true
        case .atMost(let maximum): value <= maximum
        case .atLeast(let minimum): value >= minimum
        }
    }

    var valueText: String { text(value, digits: digits) + unit + note }

    var boundText: String {
        let limit =
            switch bound {
            case nil: ""
            case .atMost(let maximum): "≤ " + text(maximum, digits: digits) + unit
            case .atLeast(let minimum): "≥ " + text(minimum, digits: digits) + unit
            }
        return aim.map { "\(limit), aim \(text($0, digits: digits))" } ?? limit
    }
}

/// A line of the table.
struct Line {
    var row: String
    var server: String
    var figures = Figures()
    var finding: Finding?
}

/// The figures of a line; what does not apply is nil.
struct Figures {
    var callsPerSecond, p50, p99, p999, serverCPU, peakMiB: Double?

    /// None.
    init() {}

    /// The medians of some rounds.
    init(_ rounds: [LoadFigures]) {
        callsPerSecond = median(rounds.map(\.callsPerSecond))
        p50 = median(rounds.map(\.p50))
        p99 = median(rounds.map(\.p99))
        p999 = median(rounds.map(\.p999))
        serverCPU = median(rounds.map(\.serverCPU))
        peakMiB = median(rounds.map(\.peakKiB)) / 1024
    }

    /// The same, where others called the server meanwhile: its CPU time says nothing about these calls.
    var withoutCPU: Figures {
        var figures = self
        figures.serverCPU = nil
        return figures
    }
}

/// A number with so many digits behind the point, and the thousands of a large one apart.
func text(_ value: Double, digits: Int) -> String {
    guard value.isFinite else { return "?" }
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((value.magnitude * Double(scale)).rounded())
    var whole = String(scaled / scale)
    var index = whole.count - 3
    while index > 0 {
        whole.insert(",", at: whole.index(whole.startIndex, offsetBy: index))
        index -= 3
    }
    let fraction = digits == 0 ? "" : "." + String(String(scaled % scale + scale).dropFirst())
    return (value < 0 && scaled > 0 ? "−" : "") + whole + fraction
}
