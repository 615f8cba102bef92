// The form of a setting's values.
import TOMLDocument

/// The form of a setting's values, as data, for messages, documentation and schemas.
indirect enum SettingShape: Sendable, Hashable {
    /// Free text, not empty.
    case text
    /// An absolute path.
    case path
    /// The scheme of a URL, in lower case.
    case urlScheme
    /// Permission bits as octal digits in a string.
    case fileMode
    /// True or false.
    case truth
    /// One of these words.
    case choice([String])
    /// An integer in a range, with the name of its unit; the name of a factor is empty.
    case count(ClosedRange<Int>, unit: String)
    /// A size in bytes: a number or text such as "64KiB".
    case bytes(ClosedRange<Int>)
    /// A duration: text such as "5s".
    case duration(ClosedRange<Duration>)
    /// A table that maps names to call quotas.
    case callQuotas
    /// A list of values of this form; a single one may be written without brackets.
    case list(of: SettingShape)

    /// The description of valid values, to follow the word "expected".
    var expected: String {
        switch self {
        case .text: "a string that is not empty"
        case .path: "an absolute path as a string"
        case .urlScheme: #"the scheme of a URL in lower case, such as "jxaction""#
        case .fileMode: #"octal permission bits as a string, such as "0600""#
        case .truth: "true or false"
        case .choice(let words): "one of " + words.map(TOMLText.quoted).joined(separator: ", ")
        case .count(let range, ""): "a number from \(range.lowerBound) to \(range.upperBound)"
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

/// A value that a setting does not accept.
struct SettingMismatch: Sendable, Hashable {
    /// The position of the value; in a list, of its item.
    var position: TOMLPosition
    /// The item's index in a list; `nil` outside a list.
    var index: Int?
    /// The expected form, the actual value and, if it can be guessed, the intended one.
    var reason: String
}

/// All mismatches of a setting. Never empty.
struct SettingMismatches: Error, Sendable, Hashable {
    var items: [SettingMismatch]

    init(_ items: [SettingMismatch]) { self.items = items }

    /// Creates mismatches with a single item.
    init(position: TOMLPosition, reason: String) {
        items = [SettingMismatch(position: position, reason: reason)]
    }
}
