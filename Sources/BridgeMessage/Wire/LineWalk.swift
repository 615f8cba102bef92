import CBridgeJSON

/// Checks a line's grammar in steps; ``LineParser`` does the same in one step. One thread at a time.
final class LineWalk {
    /// A longer text is walked in steps. A text of this length is checked within a fraction of a millisecond.
    static let longBytes = 32 * 1024

    private let line: OwnedLine
    private let walk: OpaquePointer
    /// The result for the line, once the walk has ended.
    private let text = UnsafeMutablePointer<bridge_json_text>.allocate(capacity: 1)
    private(set) var hasEnded = false

    /// - Parameters:
    ///   - maximumDepth: The maximum nesting depth.
    ///   - batchLevels: The number of levels by which an array may be deeper.
    ///   - names: The names to look for among the keys; the caller keeps them.
    init(_ line: consuming OwnedLine, maximumDepth: Int, batchLevels: Int = 0, names: MemberNames? = nil) {
        let bytes = line.bytes
        let walk = bridge_json_walk_create(
            names.pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, UInt32(maximumDepth),
            UInt32(batchLevels))
        guard let walk else { fatalError("no memory for the walk over a line") }
        self.walk = walk
        self.line = line
    }

    deinit {
        bridge_json_walk_destroy(walk)
        text.deallocate()
    }

    /// The line, valid during the lifetime of this object.
    var bytes: UnsafeRawBufferPointer { line.bytes }

    /// The number of bytes of memory that it uses, including the line.
    var heldBytes: Int { line.heldBytes + bridge_json_walk_held_bytes(walk) }

    /// Continues the walk over about `bytes` bytes. Returns true if it has ended.
    func step(bytes: Int) -> Bool {
        hasEnded = bridge_json_walk_step(walk, bytes)
        return hasEnded
    }

    /// Returns the members of the line's top level, valid during the lifetime of this object. Call it once the walk has
    /// ended.
    func parsed() throws(GrammarError) -> ParsedLine {
        guard bridge_json_walk_result(walk, text) else { throw GrammarError(text.pointee) }
        return ParsedLine(line: line.bytes, text: UnsafePointer(text))
    }

    /// The greatest nesting depth in the part that was walked.
    var depth: Int { Int(bridge_json_walk_depth(walk)) }
}
