// What a setting's values look like.
import TOMLDocument

/// The form of a setting's values, as data: messages, documentation and schemas speak from it.
indirect enum SettingShape: Sendable, Hashable {
    /// Free text, not empty.
    case text
    /// An absolute path.
    case path
    /// The scheme of a URL, in small letters.
    case urlScheme
    /// Permission bits as octal digits in a string.
    case fileMode
    /// True or false.
    case truth
    /// One of these words.
    case choice([String])
    /// A whole number of something.
    case count(ClosedRange<Int>, unit: String)
    /// A size in bytes: a number or text such as "64KiB".
    case bytes(ClosedRange<Int>)
    /// A time: text such as "5s".
    case duration(ClosedRange<Duration>)
    /// Tables by names, each with bounds of calls.
    case callQuotas
    /// Any number of these; a single one may stand without brackets.
    case list(of: SettingShape)

    /// What belongs there, after "expected".
    var expected: String {
        switch self {
        case .text: "a string that is not empty"
        case .path: "an absolute path as a string"
        case .urlScheme: #"the scheme of a URL in small letters, such as "jxaction""#
        case .fileMode: #"octal permission bits as a string, such as "0600""#
        case .truth: "true or false"
        case .choice(let words): "one of " + words.map(TOMLText.quoted).joined(separator: ", ")
        case .count(let range, let unit): "a number of \(unit) from \(range.lowerBound) to \(range.upperBound)"
        case .bytes(let range):
            "a size from \(Quantity.text(bytes: range.lowerBound)) to \(Quantity.text(bytes: range.upperBound)), "
                + #"such as "64KiB" or a number of bytes"#
        case .duration(let range):
            "a duration from \(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound)) as a string with "
                + #"its unit (ms, s, m or h), such as "5s""#
        case .callQuotas: "a table for each name, with \(CallQuotaKey.listed)"
        case .list(let item): "\(item.expected), or an array of such"
        }
    }
}

/// One thing that does not fit a setting.
struct SettingMismatch: Sendable, Hashable {
    /// The value that does not fit: in a list, its item.
    var position: TOMLPosition
    /// The item's index in a list.
    var index: Int?
    /// What was expected, what came, and what was probably meant.
    var reason: String
}

/// Everything that does not fit a setting. Never empty.
struct SettingMismatches: Error, Sendable, Hashable {
    var items: [SettingMismatch]

    init(_ items: [SettingMismatch]) { self.items = items }

    /// A single one.
    init(position: TOMLPosition, reason: String) {
        items = [SettingMismatch(position: position, reason: reason)]
    }
}
