/// Why a text is not one JSON value.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The byte at which the reading stopped, from 0.
    public let offset: Int
    /// The reason, as the end of a sentence.
    public let reason: String

    /// The reason and the place.
    public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
    /// Levels of nesting that a value may have unless the reader says otherwise: the bridge's own bound.
    public static let maximumDepth = 128

    /// The deepest nesting that a reader may ask for. Values are trees: making, writing and releasing one goes a call
    /// deeper with each level, and threads of a plugin's own may have little stack.
    static let deepestNesting = 512

    /// Reads one value of RFC 8259; anything behind it but white space is refused. UTF-8 is checked, and lone surrogate
    /// escapes are refused. Of equal keys the last one counts.
    ///
    /// - Parameters:
    ///   - bytes: the text, shorter than 4 GiB.
    ///   - maximumDepth: levels of nesting; at most 512.
    public init(
        parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSON.maximumDepth
    ) throws(JSONSyntaxError) {
        self = try Tape(bytes, maximumDepth: min(maximumDepth, Self.deepestNesting)).json(at: 0, in: bytes)
    }

    /// Reads one value; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    public init(parsing bytes: [UInt8], maximumDepth: Int = JSON.maximumDepth) throws(JSONSyntaxError) {
        self = try bytes.span.bytes.withUnsafeBytes { bytes throws(JSONSyntaxError) in
            try JSON(parsing: bytes, maximumDepth: maximumDepth)
        }
    }

    /// Reads one value; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    public init(parsing text: String, maximumDepth: Int = JSON.maximumDepth) throws(JSONSyntaxError) {
        self = try JSON(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }
}
