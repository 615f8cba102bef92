/// The reason why a text is not one JSON value.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The byte offset at which reading stopped, from 0.
    public let offset: Int
    /// The reason, as the end of a sentence.
    public let reason: String

    /// The reason and the offset.
    public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
    /// The default maximum nesting depth of a value: the bridge's own limit.
    public static let maximumDepth = 128

    /// Reads one value as in RFC 8259, of less than 2 GiB, followed only by white space. Invalid UTF-8 and escapes of
    /// lone surrogates are refused.
    ///
    /// - Parameter maximumDepth: at most 512, because creating the value recurses once for each level.
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
