import CBridgeJSON

/// A line that is handled over several turns: a long one, whose grammar is checked in steps, or a batch, item by item.
///
/// ``MessageDecoder/advance(_:)`` goes on with it. One thread at a time.
public final class OpenLine {
    /// A line of more bytes is handled over several turns.
    public static let longBytes = LineWalk.longBytes

    fileprivate let walk: LineWalk
    private let levels: Int
    fileprivate var content = Content.unknown
    /// The item of a batch that comes next, and its walk where it is long.
    fileprivate var next = 0
    fileprivate var itemWalk: (index: Int, walk: LineWalk)?
    fileprivate var isAnnounced: Bool
    /// Whether items before these have been handed out, so that it is known what the batch is.
    fileprivate let isRestOfBatch: Bool
    /// Whether the line is a batch of JSON-RPC's, to be answered by an array; nil: its first item is no message of any
    /// dialect, so that nothing shows it. Known from ``MessageDecoder/Advance/batch`` on.
    public fileprivate(set) var isRPCBatch: Bool?

    /// What the line is.
    fileprivate enum Content {
        /// Its grammar has not been checked to the end.
        case unknown
        case batch(ParsedLine)
        case handedOut
    }

    /// - Parameter extraDepth: how many levels deeper than a message it may be nested.
    init(_ line: consuming OwnedLine, extraDepth: Int, isRestOfBatch: Bool = false) {
        self.isRestOfBatch = isRestOfBatch
        isAnnounced = isRestOfBatch
        levels = LineParser.maximumDepth
        walk = LineWalk(line, maximumDepth: levels + extraDepth, batchLevels: 1, names: EnvelopeField.names)
    }

    /// How much memory it takes.
    public var heldBytes: Int { walk.heldBytes + (itemWalk?.walk.heldBytes ?? 0) }

    /// Whether all of it has been handed out.
    public var isFinished: Bool {
        if case .handedOut = content { true } else { false }
    }

    /// The line as one that is discarded; nil: its grammar has been checked. Valid as long as this is there.
    public var discarded: SplitLine? {
        guard case .unknown = content else { return nil }
        let prefix = UnsafeRawBufferPointer(rebasing: walk.bytes.prefix(MessageSplitter.keptPrefixBytes))
        return .tooLarge(prefix: prefix, lineBytes: walk.bytes.count)
    }

    /// What has not been handed out, as lines with their ends: items of a batch of which some have been handed out are
    /// lines of their own, because another one might take them for a batch of another kind.
    public var rest: [UInt8] {
        switch content {
        case .handedOut: return []
        case .batch(let batch) where isRestOfBatch || next > 0: return lines(of: batch)
        case .unknown where isRestOfBatch:
            // No batch that is long.
            while !walk.hasEnded, !walk.step(bytes: walk.bytes.count) {}
            return (try? walk.parsed()).map { lines(of: $0) } ?? []
        case .batch, .unknown: return Array(walk.bytes) + [0x0A]
        }
    }

    private func lines(of batch: ParsedLine) -> [UInt8] {
        batch.members[next...].flatMap { Array(batch.value($0)) + [0x0A] }
    }

    fileprivate func begin(_ batch: ParsedLine) { content = .batch(batch) }

    /// The item that comes next has been handed out.
    fileprivate func endItem(of batch: ParsedLine) {
        next += 1
        if next == batch.members.count { content = .handedOut }
    }

    /// Whether it is nested deeper than a message may be.
    fileprivate func isDeep(_ parsed: ParsedLine) -> Bool { walk.depth - (parsed.isArray ? 1 : 0) > levels }
}

extension MessageDecoder {
    /// How far a line has come.
    public enum Advance {
        /// A step has been taken, and more are to come.
        case step
        /// The line is a batch, whose items follow. Said before the first of them.
        case batch
        /// A message. Good until the line goes, or the decoder is used again.
        case item(DecodedItem)
        /// All of it has been handed out.
        case finished
    }

    /// How many bytes one step checks: some microseconds.
    private static let stepBytes = 4096

    /// A line that is to be handled over several turns: what was carried over by a splitter is taken from it, another
    /// line is copied.
    public func open(_ line: UnsafeRawBufferPointer, of splitter: inout MessageSplitter) -> OpenLine {
        OpenLine(splitter.takeCarried(line) ?? Self.copy(line), extraDepth: extraDepth)
    }

    /// The items of a batch, from the one on that begins at `offset`, as a line of their own.
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

    /// The grammar of the line has been checked.
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
