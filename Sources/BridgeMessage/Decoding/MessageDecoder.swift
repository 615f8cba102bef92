import BridgeJSON
import CBridgeJSON

/// How far a line was handled.
public enum DecodeOutcome: Equatable {
    /// The whole line was handled.
    case finished
    /// The handler stopped within a batch. The next item starts at this offset of the line.
    case stopped(offset: Int)
}

/// Converts lines to messages: checks the grammar, distinguishes batches from single messages, and passes the fields to
/// the dialect. One thread at a time. Its messages are valid until the handler returns.
///
/// `@exclusivity(unchecked)`: docs/architecture.md explains the reason.
public final class MessageDecoder {
    @exclusivity(unchecked) private var lines = LineParser(EnvelopeField.names)
    @exclusivity(unchecked) private var items = LineParser(EnvelopeField.names)
    @exclusivity(unchecked) private var scratch = EscapeScratch()
    /// The last batch that was found and has not been handed out; nil if there is none.
    @exclusivity(unchecked) private var batch: ParsedLine?
    private let memory = DialectMemory()
    let extraDepth: Int
    /// Whether the last line exceeds the nesting depth of a message, within the extra depth of this decoder.
    @exclusivity(unchecked) public internal(set) var isDeep = false

    /// Creates a decoder with its own working memory.
    ///
    /// - Parameters:
    ///   - urlSchemes: The schemes of URLs that are calls, in lowercase.
    ///   - extraDepth: The number of levels by which a line may exceed the nesting depth of a message, for messages
    ///     that contain the payload of another message.
    public init(urlSchemes: Set<String> = [], extraDepth: Int = 0) {
        self.extraDepth = extraDepth
        self.urlSchemes = urlSchemes
    }

    /// The schemes of URLs that are calls, in lowercase.
    public var urlSchemes: Set<String> {
        get { Set(memory.foreign.urlSchemes.map { String(decoding: $0, as: UTF8.self) }) }
        set { memory.foreign.urlSchemes = newValue.sorted().map { Array($0.utf8) } }
    }

    /// Passes the message of a line, or each message of a batch, to `handle`, until `handle` returns false.
    ///
    /// - Parameter line: A line from the splitter. A line that is not followed by its end is copied first.
    @inline(__always)
    public func decode(_ line: SplitLine, _ handle: (DecodedItem) -> Bool) -> DecodeOutcome {
        guard let item = item(of: line) else { return decodeBatch(handle) }
        _ = handle(item)
        return .finished
    }

    /// Returns the message of a line; nil if the line is a batch, for ``decodeBatch(_:)``.
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
            // A batch's brackets are not part of its messages.
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

    /// Passes each message of the batch that ``item(of:)`` found to `handle`, until `handle` returns false.
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

    /// Whether the batch that ``item(of:)`` found is a JSON-RPC batch, which is answered by an array; nil if its first
    /// item is not a message of any dialect.
    public var isRPCBatch: Bool? {
        guard let batch, let first = batch.members.first else { return false }
        let text = batch.value(first)
        guard let parsed = try? parseItem(text) else { return nil }
        return isRPC(parsed)
    }

    /// Whether an item of a batch is a JSON-RPC message; nil if it is not a message of any dialect.
    func isRPC(_ item: ParsedLine) -> Bool? {
        guard item.isObject else { return nil }
        return NativeDialect.kind(of: item, memory, &scratch).map { $0 == .jsonRPC }
    }

    /// Parses an item of a batch. Valid until the next item.
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

    /// Invalidates what was handed out before.
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

    /// Whether the line is one of the two headers with which language server clients frame their messages.
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

    /// Returns the name of the JSON type of a value that starts with this byte, with its article.
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

/// Whether the byte is white space in JSON.
@inline(__always)
func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}
