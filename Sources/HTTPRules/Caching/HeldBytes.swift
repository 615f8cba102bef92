/// The bytes of a body that a store has: RFC 9111, sections 3.3 and 3.4.
public struct HeldBytes: Hashable, Sendable {
    /// The maximum number of separate pieces of a body: a media player that seeks creates a few.
    public static let maximumPieces = 32

    /// The pieces, in their order. They are not adjacent and not empty.
    public let pieces: [Range<Int64>]
    /// The length of the whole body in bytes; `nil` if it is unknown.
    public let length: Int64?

    private init(pieces: [Range<Int64>], length: Int64?) {
        self.pieces = pieces
        self.length = length
    }

    /// No bytes of a body of unknown length.
    public static let nothing = HeldBytes(pieces: [], length: nil)

    /// Returns a whole body.
    ///
    /// - Parameter length: The length of the body in bytes.
    public static func complete(length: Int64) -> HeldBytes {
        HeldBytes(pieces: length > 0 ? [0..<length] : [], length: max(0, length))
    }

    /// Creates the bytes that a response has transferred; `nil` if the store cannot use them. That is the case if a
    /// response was interrupted before any byte, or if a part has no place or is longer than its range.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - fields: The response's fields.
    ///   - receivedBytes: The number of received bytes of its body.
    ///   - isFinished: Whether the body was received to its end.
    public init?(status: Int, fields: HeaderList, receivedBytes: Int64, isFinished: Bool) {
        guard status == 206 else {
            if isFinished {
                self = .complete(length: receivedBytes)
                return
            }
            guard receivedBytes > 0 else { return nil }
            let announced = fields.first(named: FieldName.contentLength).flatMap { Int64($0) }
            self.init(pieces: [0..<receivedBytes], length: announced.flatMap { $0 > receivedBytes ? $0 : nil })
            return
        }
        guard let place = ContentRange(fields), let range = place.range, receivedBytes > 0 else { return nil }
        let end = range.lowerBound.addingReportingOverflow(receivedBytes)
        // If a part is longer than its range, it is unknown which bytes are correct.
        guard !end.overflow, end.partialValue <= range.upperBound else { return nil }
        self.init(pieces: [range.lowerBound..<end.partialValue], length: place.length)
    }

    /// The bytes as text, for a store: `0-3,8-9/10`, or with `/*` at the end if the length is unknown.
    public var text: String {
        let places = pieces.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
        return "\(places)/\(length.map { "\($0)" } ?? "*")"
    }

    /// Parses a result of ``text``; `nil` for any other text.
    ///
    /// - Parameter text: The text from a store.
    public init?(text: some StringProtocol) {
        var scanner = FieldScanner(text)
        var held = HeldBytes.nothing
        while let first = ByteRange.number(in: &scanner) {
            guard scanner.skip("-"), let last = ByteRange.number(in: &scanner), first <= last, last < .max,
                let more = held.adding(first..<(last + 1), length: nil)
            else { return nil }
            held = more
            guard scanner.skip(",") else { break }
        }
        guard scanner.skip("/") else { return nil }
        let length = scanner.skip("*") ? nil : ByteRange.number(in: &scanner)
        if let length, let end = held.pieces.last?.upperBound, length < end { return nil }
        self.init(pieces: held.pieces, length: length)
        guard self.text == text else { return nil }
    }

    /// Whether the whole body is stored.
    public var isComplete: Bool {
        guard let length else { return false }
        return length == 0 || pieces == [0..<length]
    }

    /// Returns whether all of these bytes are stored.
    ///
    /// - Parameter range: The bytes.
    public func contains(_ range: Range<Int64>) -> Bool {
        pieces.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// Returns the bytes with further bytes of the same body added; `nil` if the lengths differ, the bytes are outside
    /// the body, or there are too many pieces.
    ///
    /// - Parameters:
    ///   - range: The received bytes.
    ///   - other: The length of the whole body, as received with them; `nil` if it is unknown.
    public func adding(_ range: Range<Int64>, length other: Int64?) -> HeldBytes? {
        if let length, let other, length != other { return nil }
        let whole = length ?? other
        guard !range.isEmpty else { return HeldBytes(pieces: pieces, length: whole) }
        guard range.lowerBound >= 0, whole.map({ range.upperBound <= $0 }) ?? true else { return nil }
        var merged = range
        var others: [Range<Int64>] = []
        for piece in pieces {
            if piece.upperBound < merged.lowerBound || piece.lowerBound > merged.upperBound {
                others.append(piece)
            } else {
                merged = min(piece.lowerBound, merged.lowerBound)..<max(piece.upperBound, merged.upperBound)
            }
        }
        let all = (others + [merged]).sorted { $0.lowerBound < $1.lowerBound }
        return all.count <= Self.maximumPieces ? HeldBytes(pieces: all, length: whole) : nil
    }

    /// The range from the first missing byte to the last one, or to the end of the body if its end is missing or
    /// unknown; `nil` if the body is complete.
    public var missing: ByteRange? {
        if isComplete { return nil }
        let first = pieces.first?.lowerBound == 0 ? pieces[0].upperBound : 0
        guard let last = pieces.last, last.upperBound == length, last.lowerBound > first else {
            return .bounds(first: first, last: nil)
        }
        return .bounds(first: first, last: last.lowerBound - 1)
    }
}

extension ContentRange {
    /// Reads the fields of a response with a single part; `nil` if there is no such field, an invalid one, or several
    /// that differ.
    ///
    /// - Parameter fields: The fields of the response.
    public init?(_ fields: HeaderList) {
        let values = fields.values(named: FieldName.contentRange)
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        self.init(first)
    }
}
