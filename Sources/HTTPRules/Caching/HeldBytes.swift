/// Which bytes of a body a store holds: RFC 9111, sections 3.3 and 3.4.
public struct HeldBytes: Hashable, Sendable {
    /// How many pieces with gaps between are kept of a body: a player that jumps makes a few.
    public static let maximumPieces = 32

    /// The pieces, in their order, none touching another, none empty.
    public let pieces: [Range<Int64>]
    /// How many bytes the whole body has; nil where that is not known.
    public let length: Int64?

    private init(pieces: [Range<Int64>], length: Int64?) {
        self.pieces = pieces
        self.length = length
    }

    /// No bytes of a body of which nothing is known yet.
    public static let nothing = HeldBytes(pieces: [], length: nil)

    /// A whole body.
    ///
    /// - Parameter length: How many bytes it has.
    public static func complete(length: Int64) -> HeldBytes {
        HeldBytes(pieces: length > 0 ? [0..<length] : [], length: max(0, length))
    }

    /// What a response brought; nil where the store has no use for it: the body of a response that was cut and has no
    /// bytes, or that is a piece without a place.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - fields: Its fields.
    ///   - receivedBytes: How many bytes of its body came.
    ///   - isFinished: Whether the body came to its end.
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
        // Of a piece that is longer than it says nobody knows which bytes are the right ones.
        guard !end.overflow, end.partialValue <= range.upperBound else { return nil }
        self.init(pieces: [range.lowerBound..<end.partialValue], length: place.length)
    }

    /// The held bytes as text, for a store: `0-3,8-9/10`, or `/*` at the end where the length is not known.
    public var text: String {
        let places = pieces.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
        return "\(places)/\(length.map { "\($0)" } ?? "*")"
    }

    /// What ``text`` made; nil where it did not make this.
    ///
    /// - Parameter text: What a store has kept.
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

    /// Whether the whole body is held.
    public var isComplete: Bool {
        guard let length else { return false }
        return length == 0 || pieces == [0..<length]
    }

    /// Whether all of these bytes are held.
    ///
    /// - Parameter range: The bytes.
    public func contains(_ range: Range<Int64>) -> Bool {
        pieces.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    /// The held bytes with some more of the same body; nil where the lengths differ or the pieces become too many.
    ///
    /// - Parameters:
    ///   - range: The bytes that have come.
    ///   - other: How long the whole body is, as came with them; nil: not known.
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

    /// From the first byte that is missing to the last; nil where none is, or where it is not known whether any is.
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
    /// What the fields of a response of one part say; nil where there is no such field, or several that differ.
    ///
    /// - Parameter fields: The fields of the response.
    public init?(_ fields: HeaderList) {
        let values = fields.values(named: FieldName.contentRange)
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        self.init(first)
    }
}
