/// Checks that bytes from a plugin are one JSON value, short enough in depth to stand in a message. Owns working memory;
/// one thread at a time.
public final class JSONCheck {
    /// Working memory of this size is kept from check to check.
    private static let keptBytes = 64 * 1024

    private let parser = LineParser()
    private var padded = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// A check with working memory of its own.
    public init() {}

    deinit { padded.deallocate() }

    /// Why the bytes are not one JSON value, as the end of a sentence; nil where they are.
    public func fault(in bytes: UnsafeRawBufferPointer) -> String? {
        // The parser reads ahead, and nobody promised that these bytes may be read past their end.
        reserve(bytes.count + MessageSplitter.paddingBytes)
        padded.copyMemory(from: bytes)
        defer { if padded.count > Self.keptBytes { release() } }
        do throws(GrammarError) {
            // One level is the message's own.
            _ = try parser.parse(
                UnsafeRawBufferPointer(rebasing: padded[..<bytes.count]), maximumDepth: LineParser.maximumDepth - 1)
            return nil
        } catch {
            return error.reason
        }
    }

    private func reserve(_ count: Int) {
        guard count > padded.count else { return }
        release()
        padded = .allocate(byteCount: max(count, 4096), alignment: 16)
    }

    private func release() {
        padded.deallocate()
        padded = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
}
