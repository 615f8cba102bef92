import CBridgeJSON

/// A line that is handled over several turns: a long line, whose grammar is checked in steps, or a batch, item by item.
///
/// ``MessageDecoder/advance(_:)`` continues it. One thread at a time.
public final class OpenLine {
    /// A line with more bytes is handled over several turns.
    public static let longBytes = LineWalk.longBytes

    fileprivate let walk: LineWalk
    private let levels: Int
    fileprivate var content = Content.unknown
    /// The next item of a batch, and its walk if it is long.
    fileprivate var next = 0
    fileprivate var itemWalk: (index: Int, walk: LineWalk)?
    fileprivate var isAnnounced: Bool
    /// Whether earlier items have already been handed out, so that the kind of the batch is known.
    fileprivate let isRestOfBatch: Bool
    /// Whether the line is a JSON-RPC batch, which is answered by an array; nil if its first item is not a message of
    /// any dialect. Known from ``MessageDecoder/Advance/batch`` on.
    public fileprivate(set) var isRPCBatch: Bool?

    /// The content of the line.
    fileprivate enum Content {
        /// The grammar has not been checked completely.
        case unknown
        case batch(ParsedLine)
        case handedOut
    }

    /// - Parameter extraDepth: The number of levels by which it may exceed the nesting depth of a message.
    init(_ line: consuming OwnedLine, extraDepth: Int, isRestOfBatch: Bool = false) {
        self.isRestOfBatch = isRestOfBatch
        isAnnounced = isRestOfBatch
        levels = LineParser.maximumDepth
        walk = LineWalk(line, maximumDepth: levels + extraDepth, batchLevels: 1, names: EnvelopeField.names)
    }

    /// The number of bytes of memory that it uses.
    public var heldBytes: Int { walk.heldBytes + (itemWalk?.walk.heldBytes ?? 0) }

    /// Whether the whole line has been handed out.
    public var isFinished: Bool {
        if case .handedOut = content { true } else { false }
    }

    /// The line as a discarded one; nil if its grammar has been checked. Valid during the lifetime of this object.
    public var discarded: SplitLine? {
        guard case .unknown = content else { return nil }
        let prefix = UnsafeRawBufferPointer(rebasing: walk.bytes.prefix(MessageSplitter.keptPrefixBytes))
        return .tooLarge(prefix: prefix, lineBytes: walk.bytes.count)
    }

    /// The part that has not been handed out, as lines with their ends. After the first item of a batch, the remaining
    /// items are lines of their own, because another decoder might consider them a batch of another kind.
    public var rest: [UInt8] {
        switch content {
        case .handedOut: return []
        case .batch(let batch) where isRestOfBatch || next > 0: return lines(of: batch)
        case .unknown where isRestOfBatch:
            // Such a batch is not long, so it is checked in one go.
            while !walk.hasEnded, !walk.step(bytes: walk.bytes.count) {}
            return (try? walk.parsed()).map { lines(of: $0) } ?? []
        case .batch, .unknown: return Array(walk.bytes) + [0x0A]
        }
    }

    private func lines(of batch: ParsedLine) -> [UInt8] {
        batch.members[next...].flatMap { Array(batch.value($0)) + [0x0A] }
    }

    fileprivate func begin(_ batch: ParsedLine) { content = .batch(batch) }

    /// Records that the next item has been handed out.
    fileprivate func endItem(of batch: ParsedLine) {
        next += 1
        if next == batch.members.count { content = .handedOut }
    }

    /// Whether it exceeds the nesting depth of a message.
    fileprivate func isDeep(_ parsed: ParsedLine) -> Bool { walk.depth - (parsed.isArray ? 1 : 0) > levels }
}

extension MessageDecoder {
    /// The progress of a line.
    public enum Advance {
        /// A step has been taken; more steps follow.
        case step
        /// The line is a batch, whose items follow. Returned before the first item.
        case batch
        /// A message. Valid until the line is released or the decoder is used again.
        case item(DecodedItem)
        /// The whole line has been handed out.
        case finished
    }

    /// The number of bytes that one step checks, in some microseconds.
    private static let stepBytes = 4096

    /// Opens a line to be handled over several turns. Takes the memory of a line that the splitter has carried over;
    /// copies any other line.
    public func open(_ line: UnsafeRawBufferPointer, of splitter: inout MessageSplitter) -> OpenLine {
        OpenLine(splitter.takeCarried(line) ?? Self.copy(line), extraDepth: extraDepth)
    }

    /// Opens the items of a batch from `offset` on as a line of their own.
    public func open(restOf batch: UnsafeRawBufferPointer, from offset: Int) -> OpenLine {
        withUnsafeBytes(of: UInt8(ascii: "[")) { bracket in
            let rest = UnsafeRawBufferPointer(rebasing: batch[offset...])
            return OpenLine(OwnedLine(copying: bracket, rest), extraDepth: extraDepth, isRestOfBatch: true)
        }
    }

    private static func copy(_ text: UnsafeRawBufferPointer) -> OwnedLine {
        OwnedLine(copying: text, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Takes the next step of a line.
    public func advance(_ line: OpenLine) -> Advance {
        switch line.content {
        case .handedOut: .finished
        case .batch(let batch): advance(line, batch)
        case .unknown: line.walk.step(bytes: Self.stepBytes) ? begin(line) : .step
        }
    }

    /// Continues after the grammar of the line has been checked.
    private func begin(_ line: OpenLine) -> Advance {
        line.content = .handedOut
        resetScratch()
        do throws(GrammarError) {
            let parsed = try line.walk.parsed()
            isDeep = line.isDeep(parsed)
            guard parsed.isArray else { return .item(item(parsed)) }
            guard !parsed.members.isEmpty else { return .item(emptyBatch) }
            line.begin(parsed)
            return .step
        } catch {
            return .item(refuse(notJSON(line.walk.bytes, error)))
        }
    }

    // MARK: Items of a batch

    private func advance(_ line: OpenLine, _ batch: ParsedLine) -> Advance {
        let text = batch.value(batch.members[line.next])
        if line.itemWalk?.index != line.next { line.itemWalk = nil }
        do throws(GrammarError) {
            if text.count <= OpenLine.longBytes { return handOut(try parseItem(text), of: batch, line) }
            let walk =
                line.itemWalk?.walk
                ?? LineWalk(Self.copy(text), maximumDepth: LineParser.maximumDepth, names: EnvelopeField.names)
            line.itemWalk = (line.next, walk)
            guard walk.hasEnded || walk.step(bytes: Self.stepBytes) else { return .step }
            return handOut(try walk.parsed(), of: batch, line)
        } catch {
            guard line.isAnnounced else { return announce(line, nil) }
            line.endItem(of: batch)
            return .item(refuseItem(error))
        }
    }

    private func handOut(_ item: ParsedLine, of batch: ParsedLine, _ line: OpenLine) -> Advance {
        guard line.isAnnounced else { return announce(line, isRPC(item)) }
        line.endItem(of: batch)
        resetScratch()
        return .item(self.item(item))
    }

    private func announce(_ line: OpenLine, _ isRPC: Bool?) -> Advance {
        line.isAnnounced = true
        line.isRPCBatch = isRPC
        return .batch
    }
}
