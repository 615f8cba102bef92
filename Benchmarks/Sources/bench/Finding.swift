/// The maximum or minimum of a figure.
enum Bound {
    case atMost(Double)
    case atLeast(Double)
}

/// The result of a row, and its limit.
struct Finding {
    /// The name of the figure, for the check.
    var what: String
    var value: Double
    /// The text after the value, such as " × floor".
    var unit: String
    /// The number of significant digits after the decimal point.
    var digits = 2
    /// A further remark.
    var note = ""
    /// The limit, with a margin, for a quiet machine; `nil` if there is none: the figure is for comparison.
    var bound: Bound?
    /// The target, if the limit is not there yet. It is shown beside the limit and not checked.
    var aim: Double?

    /// Whether the value is within the limit. NaN is not.
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

/// The figures of a line; `nil` for those that do not apply.
struct Figures {
    var callsPerSecond, p50, p99, p999, serverCPU, peakMiB: Double?

    /// Creates no figures.
    init() {}

    /// Creates the medians of several rounds.
    init(_ rounds: [LoadFigures]) {
        callsPerSecond = median(rounds.map(\.callsPerSecond))
        p50 = median(rounds.map(\.p50))
        p99 = median(rounds.map(\.p99))
        p999 = median(rounds.map(\.p999))
        serverCPU = median(rounds.map(\.serverCPU))
        peakMiB = median(rounds.map(\.peakKiB)) / 1024
    }

    /// The same without CPU time. For rows where other clients called the server meanwhile: its CPU time does not
    /// describe these calls.
    var withoutCPU: Figures {
        var figures = self
        figures.serverCPU = nil
        return figures
    }
}

/// Returns a number with that many digits after the point, and with grouped thousands.
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
