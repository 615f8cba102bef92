/// Checks that bytes from a plugin are one JSON value whose nesting depth fits into a message. One thread at a time.
public final class JSONCheck {
    private var parser = LineParser()

    /// Creates a check with its own working memory.
    public init() {}

    /// Returns the reason why the bytes are not one JSON value, as the end of a sentence; nil if they are.
    ///
    /// - Parameter levelsAround: The number of levels of a message that enclose the value.
    public func fault(in bytes: UnsafeRawBufferPointer, levelsAround: Int = 1) -> String? {
        parser.fault(in: bytes, maximumDepth: LineParser.maximumDepth - levelsAround)?.reason
    }

    /// Splits an object into its members, in their order. Each has its name as written between the quotes, including
    /// escapes, and its value. Both are parts of `bytes`.
    ///
    /// - Parameter levelsAround: The number of levels of a message that enclose the object.
    /// - Returns: The reason why the bytes are not an object, as the end of a sentence; nil if they are one.
    public func cut(
        _ bytes: UnsafeRawBufferPointer, levelsAround: Int = 1,
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> String? {
        parser.cut(bytes, maximumDepth: LineParser.maximumDepth - levelsAround, member)
    }
}
