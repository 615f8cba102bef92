/// The number of a session: one connection of a client to the daemon. The daemon never reuses a number; 0 is the daemon
/// itself. In JSON it is a number.
@frozen
public struct SessionID: RawRepresentable, Hashable, Codable, Sendable {
    /// The session's number, as shown in messages and by `trestle sessions`.
    public let rawValue: UInt64

    /// Creates the id of a session from its number.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates the id of a session from its number, which must not be negative.
    @inlinable
    public init(_ number: some BinaryInteger) { rawValue = UInt64(number) }
}

extension SessionID {
    /// Creates the id from a JSON number; nil if this is not one.
    public init?(_ json: JSON?) {
        guard let number = json?.int64Value.flatMap({ UInt64(exactly: $0) }) else { return nil }
        rawValue = number
    }

    /// The number as JSON.
    public var json: JSON { .number(JSONNumber(rawValue)) }
}

extension SessionID: ExpressibleByIntegerLiteral {
    /// Creates the id of a session from its number.
    @inlinable
    public init(integerLiteral number: UInt64) { rawValue = number }
}

extension SessionID: Comparable {
    /// Whether the left session was opened first.
    @inlinable
    public static func < (left: SessionID, right: SessionID) -> Bool { left.rawValue < right.rawValue }
}

extension SessionID: LosslessStringConvertible {
    /// Creates the id from a number in decimal digits; nil if the text is not such a number.
    public init?(_ description: String) {
        guard let number = UInt64(description) else { return nil }
        rawValue = number
    }

    /// The number.
    public var description: String { String(rawValue) }
}
