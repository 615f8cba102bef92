/// Bytes that Codable values are being written to, front to back.
///
/// A value is written where it is met. Only what may be written later, and out of turn (nested containers, encoders for
/// a superclass), gets a fragment of its own, which is put in its place when all is done.
///
/// Values that are open form a stack of levels, the innermost last, and only the innermost is written to. Whoever kept
/// a container of another and writes to it gets an error, and so does the whole encoding: never wrong JSON.
final class EncodingBuffer {
    /// A value that is open.
    struct Level {
        enum Content { case nothing, single, array, object }

        let number: Int
        var content = Content.nothing
        /// Members or elements so far.
        var count = 0
        /// The member that is being written, for paths.
        var key: String?
        /// Where this level's keys begin among all of them.
        let firstKey: Int
    }

    var bytes: [UInt8]
    private(set) var levels: [Level] = []
    private(set) var keys = WrittenKeys()
    private var lastNumber = 0
    private var fragments: [(offset: Int, buffer: EncodingBuffer)] = []
    /// What all fragments of one encoding share; itself where this is the outermost buffer.
    private let outcome: EncodingOutcome
    /// Where this fragment belongs.
    private let outerPath: [PathStep]

    init(_ bytes: [UInt8], outcome: EncodingOutcome, path: [PathStep] = []) {
        self.bytes = bytes
        self.outcome = outcome
        outerPath = path
    }

    // MARK: Levels

    /// Opens a level for a value that is about to be written.
    func open() -> ByteEncoder {
        lastNumber += 1
        levels.append(Level(number: lastNumber, firstKey: keys.count))
        return ByteEncoder(buffer: self, depth: levels.count - 1, number: lastNumber)
    }

    /// Ends the innermost level. A value that wrote nothing is an empty object.
    func close() {
        switch levels[levels.count - 1].content {
        case .nothing: bytes.append(contentsOf: "{}".utf8)
        case .single: break
        case .array: bytes.append(UInt8(ascii: "]"))
        case .object: bytes.append(UInt8(ascii: "}"))
        }
        keys.remove(from: levels[levels.count - 1].firstKey)
        levels.removeLast()
    }

    /// Makes the level a container, unless it is one already: a class and its superclass share theirs.
    func openContainer(_ content: Level.Content, at encoder: ByteEncoder) {
        guard isInnermost(encoder) else { return fail(Self.outOfTurn, at: encoder) }
        let depth = encoder.depth
        if levels[depth].content == content { return }
        guard levels[depth].content == .nothing else { return fail("two kinds of value in one place", at: encoder) }
        levels[depth].content = content
        bytes.append(content == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
    }

    private static let outOfTurn = "a container was written to after, or in the middle of, another value"

    private func isInnermost(_ encoder: ByteEncoder) -> Bool {
        encoder.depth == levels.count - 1 && levels[encoder.depth].number == encoder.number
    }

    /// Fails the whole encoding, from a function that cannot throw.
    private func fail(_ reason: String, at encoder: ByteEncoder) { outcome.fail(error(reason, at: encoder)) }

    func error(_ reason: String, at encoder: ByteEncoder) -> JSONEncodingError {
        JSONEncodingError(path: path(of: encoder).text, reason: reason)
    }

    /// The path to the value of a level.
    func path(of encoder: ByteEncoder) -> [PathStep] {
        outerPath
            + levels.prefix(encoder.depth).compactMap { level in
                switch level.content {
                case .object: level.key.map { .key($0) }
                case .array: .index(level.count - 1)
                case .nothing, .single: nil
                }
            }
    }

    func elementCount(of encoder: ByteEncoder) -> Int {
        levels.indices.contains(encoder.depth) ? levels[encoder.depth].count : 0
    }

    // MARK: Writing

    /// Writes the one value of a level. Where `body` throws, nothing has been written.
    @inline(__always)
    func writeSingle(at encoder: ByteEncoder, _ body: () throws -> Void) throws {
        guard isInnermost(encoder), levels[encoder.depth].content == .nothing else { throw misuse(of: encoder) }
        levels[encoder.depth].content = .single
        try keep(at: encoder, content: .nothing, count: 0, body)
    }

    /// Writes a member. Where `body` throws, nothing has been written.
    @inline(__always)
    func writeMember(_ key: String, at encoder: ByteEncoder, _ body: () throws -> Void) throws {
        guard isInnermost(encoder), levels[encoder.depth].content == .object else { throw misuse(of: encoder) }
        let count = levels[encoder.depth].count
        try keep(at: encoder, content: .object, count: count) {
            beginMember(key, depth: encoder.depth)
            try body()
        }
    }

    /// Writes an element. Where `body` throws, nothing has been written.
    @inline(__always)
    func writeElement(at encoder: ByteEncoder, _ body: () throws -> Void) throws {
        guard isInnermost(encoder), levels[encoder.depth].content == .array else { throw misuse(of: encoder) }
        let count = levels[encoder.depth].count
        try keep(at: encoder, content: .array, count: count) {
            beginElement(depth: encoder.depth)
            try body()
        }
    }

    private func beginMember(_ key: String, depth: Int) {
        if levels[depth].count > 0 { bytes.append(UInt8(ascii: ",")) }
        let start = bytes.count
        JSONText.appendQuoted(key, to: &bytes)
        if keys.add(start..<bytes.count, of: bytes, from: levels[depth].firstKey) { outcome.hasRepeatedKeys = true }
        bytes.append(UInt8(ascii: ":"))
        levels[depth].count += 1
        levels[depth].key = key
    }

    private func beginElement(depth: Int) {
        if levels[depth].count > 0 { bytes.append(UInt8(ascii: ",")) }
        levels[depth].count += 1
    }

    private func misuse(of encoder: ByteEncoder) -> JSONEncodingError {
        let error = error(Self.outOfTurn, at: encoder)
        outcome.fail(error)
        return error
    }

    /// Takes back what was written where `body` throws: its error may be caught, and something else be written instead.
    @inline(__always)
    private func keep(
        at encoder: ByteEncoder, content: Level.Content, count: Int, _ body: () throws -> Void
    ) throws {
        let (byteCount, keyCount, fragmentCount) = (bytes.count, keys.count, fragments.count)
        do {
            try body()
        } catch {
            bytes.removeLast(bytes.count - byteCount)
            keys.remove(from: keyCount)
            fragments.removeLast(fragments.count - fragmentCount)
            levels.removeLast(levels.count - 1 - encoder.depth)
            levels[encoder.depth].content = content
            levels[encoder.depth].count = count
            throw error
        }
    }

    // MARK: Fragments

    /// A member that may be written later.
    func laterMember(_ key: String, at encoder: ByteEncoder) -> ByteEncoder {
        guard isInnermost(encoder), levels[encoder.depth].content == .object else {
            return nowhere(insteadOf: encoder)
        }
        beginMember(key, depth: encoder.depth)
        return fragment(at: encoder, .key(key))
    }

    /// An element that may be written later.
    func laterElement(at encoder: ByteEncoder) -> ByteEncoder {
        guard isInnermost(encoder), levels[encoder.depth].content == .array else {
            return nowhere(insteadOf: encoder)
        }
        beginElement(depth: encoder.depth)
        return fragment(at: encoder, .index(levels[encoder.depth].count - 1))
    }

    private func fragment(at encoder: ByteEncoder, _ step: PathStep) -> ByteEncoder {
        let fragment = EncodingBuffer([], outcome: outcome, path: path(of: encoder) + [step])
        fragments.append((bytes.count, fragment))
        return fragment.open()
    }

    /// An encoder for a function that cannot throw; the encoding has failed.
    private func nowhere(insteadOf encoder: ByteEncoder) -> ByteEncoder {
        fail(Self.outOfTurn, at: encoder)
        return EncodingBuffer([], outcome: outcome).open()
    }

    /// Ends the outermost level and puts the fragments in their places.
    func finish() -> [UInt8] {
        close()
        guard !fragments.isEmpty else { return bytes }
        var whole: [UInt8] = []
        var start = 0
        for (offset, fragment) in fragments {
            whole.append(contentsOf: bytes[start..<offset])
            whole.append(contentsOf: fragment.finish())
            start = offset
        }
        whole.append(contentsOf: bytes[start...])
        return whole
    }
}

/// What became of an encoding, for all its fragments.
final class EncodingOutcome {
    private(set) var failure: JSONEncodingError?
    /// Whether some object bears a key twice.
    var hasRepeatedKeys = false

    /// The first failure is the one that is told.
    func fail(_ error: JSONEncodingError) {
        if failure == nil { failure = error }
    }
}
