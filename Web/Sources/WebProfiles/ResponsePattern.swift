/// A pattern of responses that are not shown as documents, by type or status.
public enum ResponsePattern: Hashable, Sendable, CustomStringConvertible {
    /// A content type, such as `application/pdf`.
    case type(String)
    /// All content types with this first part, such as `video` for `video/*`.
    case kind(String)
    /// A range of HTTP statuses.
    case status(ClosedRange<Int>)

    /// The maximum number of patterns in a profile.
    public static let maximum = 64
    /// The maximum length of a content type.
    private static let maximumTypeBytes = 127

    /// Parses a pattern: a content type without parameters, one with `*` in place of its second part, a status such as
    /// `404`, or a class of statuses such as `5xx`; `nil` if the text is none of these.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        if let first = text.utf8.first, (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(first) {
            guard let statuses = Self.statuses(text, hundreds: Int(first - UInt8(ascii: "0")) * 100) else {
                return nil
            }
            self = .status(statuses)
            return
        }
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= Self.maximumTypeBytes, Self.isToken(parts[0]) else { return nil }
        if parts[1] == "*" {
            self = .kind(String(parts[0]))
        } else {
            guard Self.isToken(parts[1]) else { return nil }
            self = .type("\(parts[0])/\(parts[1])")
        }
    }

    private static func statuses(_ text: String, hundreds: Int) -> ClosedRange<Int>? {
        if text.utf8.dropFirst().elementsEqual("xx".utf8) { return hundreds...hundreds + 99 }
        guard text.utf8.count == 3, let status = Int(text) else { return nil }
        return status...status
    }

    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "!#$&-^_.+".utf8.contains(byte)
                }
            }
    }

    /// The text of the pattern.
    public var description: String {
        switch self {
        case .type(let type): type
        case .kind(let kind): "\(kind)/*"
        case .status(let statuses) where statuses.count == 1: String(statuses.lowerBound)
        case .status(let statuses): "\(statuses.lowerBound / 100)xx"
        }
    }

    /// Whether a response matches the pattern.
    ///
    /// - Parameters:
    ///   - type: Its content type, without parameters.
    ///   - status: Its status; 0 for none.
    public func matches(type: String, status: Int) -> Bool {
        switch self {
        case .type(let own): type.lowercased().utf8.elementsEqual(own.utf8)
        case .kind(let kind): type.lowercased().utf8.starts(with: "\(kind)/".utf8)
        case .status(let statuses): statuses.contains(status)
        }
    }
}
