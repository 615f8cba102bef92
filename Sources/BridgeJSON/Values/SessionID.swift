/// A session: one connection of a client to the daemon. Its number is never given to another session of the same
/// daemon; 0 is the daemon itself. In JSON it is the number.
@frozen
public struct SessionID: RawRepresentable, Hashable, Codable, Sendable {
    /// The session's number, as messages and `trestle sessions` have it.
    public let rawValue: UInt64

    /// The session of a number.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The session of a number, which must not be negative.
    @inlinable
    public init(_ number: some BinaryInteger) { rawValue = UInt64(number) }
}

extension SessionID {
    /// The session of a JSON number; nil where this is none.
    public init?(_ json: JSON?) {
        guard let number = json?.int64Value.flatMap({ UInt64(exactly: $0) }) else { return nil }
        rawValue = number
    }

    /// The number as JSON.
    public var json: JSON { .number(JSONNumber(rawValue)) }
}

extension SessionID: ExpressibleByIntegerLiteral {
    /// The session of a number.
    @inlinable
    public init(integerLiteral number: UInt64) { rawValue = number }
}

extension SessionID: Comparable {
    /// Whether the left session was opened first.
    @inlinable
    public static func < (left: SessionID, right: SessionID) -> Bool { left.rawValue < right.rawValue }
}

extension SessionID: LosslessStringConvertible {
    /// The session of a number in decimal digits; nil where the text is none.
    public init?(_ description: String) {
        guard let number = UInt64(description) else { return nil }
        rawValue = number
    }

    /// The number.
    public var description: String { String(rawValue) }
}
