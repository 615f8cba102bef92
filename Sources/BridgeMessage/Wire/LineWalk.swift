import CBridgeJSON

/// The check of a line's grammar, in steps: what ``LineParser`` does at once. One thread at a time.
final class LineWalk {
    /// A text of more bytes is walked in steps. One of as many is checked within a fraction of a millisecond.
    static let longBytes = 32 * 1024

    private let line: OwnedLine
    private let walk: OpaquePointer
    private(set) var hasEnded = false

    /// - Parameters:
    ///   - maximumDepth: how deep it may be nested.
    ///   - batchLevels: how much deeper an array may be.
    init(_ line: consuming OwnedLine, maximumDepth: Int, batchLevels: Int = 0) {
        let bytes = line.bytes
        let walk = bridge_json_walk_create(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, UInt32(maximumDepth),
            UInt32(batchLevels))
        guard let walk else { fatalError("no memory for the walk over a line") }
        self.walk = walk
        self.line = line
    }

    deinit { bridge_json_walk_destroy(walk) }

    /// The line, as long as this is there.
    var bytes: UnsafeRawBufferPointer { line.bytes }

    /// How much memory it takes, the line's included.
    var heldBytes: Int { line.heldBytes + bridge_json_walk_held_bytes(walk) }

    /// Walks on over about so many bytes; true where it has ended.
    func step(bytes: Int) -> Bool {
        hasEnded = bridge_json_walk_step(walk, bytes)
        return hasEnded
    }

    /// The members of the line's top level, as long as this is there. Once it has ended.
    func parsed() throws(GrammarError) -> ParsedLine {
        var result = bridge_json_text()
        guard bridge_json_walk_result(walk, &result) else {
            throw GrammarError(kind: Int32(result.error), offset: Int(result.error_offset))
        }
        return ParsedLine(
            line: line.bytes, root: result.root,
            members: UnsafeBufferPointer(start: result.members, count: Int(result.count)))
    }

    /// How deep it is nested, as far as it was walked.
    var depth: Int { Int(bridge_json_walk_depth(walk)) }
}
