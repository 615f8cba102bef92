/// Checks that bytes from a plugin are one JSON value, short enough in depth to stand in a message. One thread at a time.
public final class JSONCheck {
    private var parser = LineParser()

    /// A check with working memory of its own.
    public init() {}

    /// Why the bytes are not one JSON value, as the end of a sentence; nil where they are.
    public func fault(in bytes: UnsafeRawBufferPointer) -> String? {
        // One level is the message's own.
        parser.fault(in: bytes, maximumDepth: LineParser.maximumDepth - 1)?.reason
    }
}
