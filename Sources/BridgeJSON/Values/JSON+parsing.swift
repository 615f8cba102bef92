/// Why a text is not one JSON value.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The byte at which the reading stopped, from 0.
    public let offset: Int
    /// The reason, as the end of a sentence.
    public let reason: String

    /// The reason and the offset.
    public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
    /// Levels of nesting that a value may have unless the reader says otherwise: the bridge's own bound.
    public static let maximumDepth = 128

    /// Reads one value of RFC 8259, of less than 2 GiB; anything behind it but white space is refused. UTF-8 is
    /// checked, and so are lone surrogate escapes.
    ///
    /// - Parameter maximumDepth: at most 512, because making the value goes one call deeper with each level.
    public init(
        parsing bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSON.maximumDepth
    ) throws(JSONSyntaxError) {
        self = try JSONTape(bytes, maximumDepth: min(maximumDepth, 512)).json(JSONTape.root)
    }

    /// Reads one value; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    public init(parsing bytes: [UInt8], maximumDepth: Int = JSON.maximumDepth) throws(JSONSyntaxError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result<JSON, JSONSyntaxError> { () throws(JSONSyntaxError) in
                try JSON(parsing: bytes, maximumDepth: maximumDepth)
            }
        }
        self = try result.get()
    }

    /// Reads one value; see ``init(parsing:maximumDepth:)-(UnsafeRawBufferPointer,_)``.
    public init(parsing text: String, maximumDepth: Int = JSON.maximumDepth) throws(JSONSyntaxError) {
        self = try JSON(parsing: Array(text.utf8), maximumDepth: maximumDepth)
    }
}
