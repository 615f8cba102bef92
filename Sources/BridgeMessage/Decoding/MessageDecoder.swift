import BridgeJSON
import CBridgeJSON

/// What became of a line.
public enum DecodeOutcome: Equatable {
    /// All of it was handled.
    case finished
    /// The handler stopped within a batch; the item that starts at this offset of the line is the next one.
    case stopped(offset: Int)
}

/// Turns lines into messages: checks the grammar, distinguishes batches from single messages, and lets the dialect read
/// the fields. One thread at a time; what it hands out is good until the handler returns.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
public final class MessageDecoder {
    @exclusivity(unchecked) private var lines = LineParser(EnvelopeField.names)
    @exclusivity(unchecked) private var items = LineParser(EnvelopeField.names)
    @exclusivity(unchecked) private var scratch = EscapeScratch()
    /// The batch that was found last and has not been handed out.
    @exclusivity(unchecked) private var batch: ParsedLine?
    private let memory = DialectMemory()
    let extraDepth: Int
    /// Whether the line that was read last is nested deeper than a message may be, by as much as this decoder allows.
    @exclusivity(unchecked) public internal(set) var isDeep = false

    /// A decoder with working memory of its own.
    ///
    /// - Parameters:
    ///   - urlSchemes: the schemes of URLs that are calls, in small letters.
    ///   - extraDepth: how many levels deeper than a message a line may be nested, for messages that carry another's
    ///     payload as a part of theirs.
    public init(urlSchemes: Set<String> = [], extraDepth: Int = 0) {
        self.extraDepth = extraDepth
        self.urlSchemes = urlSchemes
    }

    /// The schemes of URLs that are calls, in small letters.
    public var urlSchemes: Set<String> {
        get { Set(memory.foreign.urlSchemes.map { String(decoding: $0, as: UTF8.self) }) }
        set { memory.foreign.urlSchemes = newValue.sorted().map { Array($0.utf8) } }
    }

    /// Hands the message of a line, or each message of a batch, to `handle`, until `handle` returns false.
    ///
    /// - Parameter line: as the splitter hands it out; a line with something else than its end behind it is copied
    ///   first.
    @inline(__always)
    public func decode(_ line: SplitLine, _ handle: (DecodedItem) -> Bool) -> DecodeOutcome {
        guard let item = item(of: line) else { return decodeBatch(handle) }
        _ = handle(item)
        return .finished
    }

    /// The message of a line; nil where the line is a batch of them, for ``decodeBatch(_:)``.
    public func item(of line: SplitLine) -> DecodedItem? {
        scratch.reset()
        switch line {
        case .tooLarge(let prefix, let lineBytes): return refuse(tooLarge(prefix, lineBytes))
        case .line(let bytes):
            let isEnded = bytes.baseAddress.map { $0.load(fromByteOffset: bytes.count, as: UInt8.self) < 0x20 } ?? true
            return item(of: isEnded ? bytes : lines.inCopy(of: bytes))
        }
    }

    @inline(__always)
    private func item(of bytes: UnsafeRawBufferPointer) -> DecodedItem? {
        let isBatch = Self.firstByte(of: bytes) == UInt8(ascii: "[")
        do throws(GrammarError) {
            // A batch's brackets are no part of the messages in it.
            let depth = LineParser.maximumDepth + (isBatch ? 1 : 0)
            let parsed =
                extraDepth == 0
                ? try lines.parse(bytes, maximumDepth: depth) : try parseDeep(bytes, maximumDepth: depth)
            if isBatch {
                batch = parsed
                return nil
            }
            return item(parsed)
        } catch {
            return refuse(notJSON(bytes, error))
        }
    }

    private func parseDeep(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) throws(GrammarError) -> ParsedLine {
        isDeep = false
        do throws(GrammarError) {
            return try lines.parse(bytes, maximumDepth: maximumDepth)
        } catch {
            guard error.isDepth else { throw error }
            isDeep = true
            return try lines.parse(bytes, maximumDepth: maximumDepth + extraDepth)
        }
    }

    @inline(__always)
    private static func firstByte(of text: UnsafeRawBufferPointer) -> UInt8? {
        if let first = text.first, !isSpace(first) { return first }
        return text.first { !isSpace($0) }
    }

    /// Hands each message of the batch that ``item(of:)`` came upon to `handle`, until `handle` returns false.
    public func decodeBatch(_ handle: (DecodedItem) -> Bool) -> DecodeOutcome {
        guard let batch else { return .finished }
        self.batch = nil
        if batch.members.isEmpty {
            _ = handle(emptyBatch)
        }
        for (number, member) in batch.members.enumerated() {
            let goesOn = handle(batchItem(batch.value(member)))
            scratch.reset()
            if !goesOn, number + 1 < batch.members.count {
                return .stopped(offset: Int(batch.members[number + 1].value_start))
            }
        }
        return .finished
    }

    /// Whether the batch that ``item(of:)`` came upon is one of JSON-RPC's, to be answered by an array; nil: its first
    /// item is no message of any dialect, so that nothing shows it.
    public var isRPCBatch: Bool? {
        guard let batch, let first = batch.members.first else { return false }
        let text = batch.value(first)
        guard let parsed = try? parseItem(text) else { return nil }
        return isRPC(parsed)
    }

    /// Whether an item of a batch is a message of JSON-RPC; nil: it is a message of no dialect.
    func isRPC(_ item: ParsedLine) -> Bool? {
        guard item.isObject else { return nil }
        return NativeDialect.kind(of: item, memory, &scratch).map { $0 == .jsonRPC }
    }

    /// Cuts an item of a batch. Good until the next item.
    func parseItem(_ text: UnsafeRawBufferPointer) throws(GrammarError) -> ParsedLine {
        scratch.reset()
        return try items.parse(items.inCopy(of: text))
    }

    private func batchItem(_ text: UnsafeRawBufferPointer) -> DecodedItem {
        do throws(GrammarError) { return item(try parseItem(text)) } catch { return refuseItem(error) }
    }

    func refuseItem(_ error: GrammarError) -> DecodedItem {
        refuse(problem("the item is not JSON: \(error.reason)"))
    }

    @inline(__always)
    func item(_ parsed: ParsedLine) -> DecodedItem {
        guard parsed.isObject else {
            return refuse(problem("a message is a JSON object, this is \(Self.typeName(parsed.root))"))
        }
        return NativeDialect(parsed, memory, &scratch).decode(&scratch)
    }

    /// What was handed out before is invalid from here on.
    func resetScratch() { scratch.reset() }

    var emptyBatch: DecodedItem {
        var problem = problem("an empty batch: a line holds one message or an array of at least one")
        problem.mayBeRPC = true
        return refuse(problem)
    }

    func refuse(_ problem: MessageProblem) -> DecodedItem { memory.keep(problem) }

    func notJSON(_ bytes: UnsafeRawBufferPointer, _ error: GrammarError) -> MessageProblem {
        let prefix = UnsafeRawBufferPointer(rebasing: bytes.prefix(MessageSplitter.keptPrefixBytes))
        let found = CallbackIDSalvage.find(in: prefix, &scratch)
        let isHeader = Self.isHeader(prefix)
        let reason = isHeader ? Self.noHeaders : "the line is not JSON: \(error.reason)"
        var problem = MessageProblem(
            error: BridgeError(
                .messageInvalid, reason,
                data: error.offset > 0 ? ["offset": .number(JSONNumber(error.offset))] : nil),
            callbackID: found?.id, isNotJSON: true, isReply: found?.isReply ?? false)
        problem.isHeader = isHeader
        problem.mayBeRPC = isHeader || Self.contains(#""jsonrpc""#, prefix)
        return problem
    }

    /// As clients of language servers frame their messages: two headers, in any order.
    private static func isHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        ["content-length:", "content-type:"].contains { header in
            line.prefix(header.utf8.count).lazy.map { $0 | 0x20 }.elementsEqual(header.utf8)
        }
    }

    private static let noHeaders =
        "a message is one line of JSON, without headers such as Content-Length: send each message with a line end"

    private static func contains(_ text: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
        let wanted = UnsafeRawBufferPointer(text)
        return line.indices.contains { line[$0] == wanted[0] && line[$0...].starts(with: wanted) }
    }

    private func tooLarge(_ prefix: UnsafeRawBufferPointer, _ lineBytes: Int) -> MessageProblem {
        let found = CallbackIDSalvage.find(in: prefix, &scratch)
        return MessageProblem(
            error: BridgeError(
                .messageTooLarge,
                "the line of \(lineBytes) bytes is longer than a message may be, and was discarded: "
                    + BridgeError.goesAsStream),
            callbackID: found?.id, isReply: found?.isReply ?? false)
    }

    private func problem(_ reason: String) -> MessageProblem {
        MessageProblem(error: BridgeError(.messageInvalid, reason), callbackID: nil)
    }

    /// What JSON calls a value that starts with this byte, with its article.
    static func typeName(_ first: UInt8) -> String {
        switch first {
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}

/// White space as JSON knows it.
@inline(__always)
func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}
