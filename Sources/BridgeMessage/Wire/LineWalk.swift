import CBridgeJSON

/// The check of a line's grammar, in steps: what ``LineParser`` does in one step. One thread at a time.
final class LineWalk {
    /// A text of more bytes is walked in steps. One of as many is checked within a fraction of a millisecond.
    static let longBytes = 32 * 1024

    private let line: OwnedLine
    private let walk: OpaquePointer
    /// What the walk says of the line, once it has ended.
    private let text = UnsafeMutablePointer<bridge_json_text>.allocate(capacity: 1)
    private(set) var hasEnded = false

    /// - Parameters:
    ///   - maximumDepth: how deep it may be nested.
    ///   - batchLevels: how much deeper an array may be.
    ///   - names: what is looked for among the keys; kept by the caller.
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
        guard bridge_json_walk_result(walk, text) else { throw GrammarError(text.pointee) }
        return ParsedLine(line: line.bytes, text: UnsafePointer(text))
    }

    /// How deep it is nested, as far as it was walked.
    var depth: Int { Int(bridge_json_walk_depth(walk)) }
}
