/// Checks that bytes from a plugin are one JSON value, short enough in depth to stand in a message. One thread at a
/// time.
public final class JSONCheck {
    private var parser = LineParser()

    /// A check with working memory of its own.
    public init() {}

    /// Why the bytes are not one JSON value, as the end of a sentence; nil where they are.
    ///
    /// - Parameter levelsAround: how many levels of a message's nesting the value has around it.
    public func fault(in bytes: UnsafeRawBufferPointer, levelsAround: Int = 1) -> String? {
        parser.fault(in: bytes, maximumDepth: LineParser.maximumDepth - levelsAround)?.reason
    }

    /// Cuts an object into its members, in their order: each with its name as it stands between the quotes, escapes and
    /// all, and its value. Both are parts of `bytes`.
    ///
    /// - Parameter levelsAround: how many levels of a message's nesting the object has around it.
    /// - Returns: why the bytes are no object, as the end of a sentence; nil where they are one.
    public func cut(
        _ bytes: UnsafeRawBufferPointer, levelsAround: Int = 1,
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> String? {
        parser.cut(bytes, maximumDepth: LineParser.maximumDepth - levelsAround, member)
    }
}
