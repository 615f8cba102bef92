import BridgeJSON
import CSimdjson

/// What a line, or an item of a batch, turned out to be.
public enum DecodedItem {
    /// A message. Borrows the line's bytes and the decoder's memory.
    case message(BridgeMessage)
    /// Something else, to be answered with an error.
    case problem(MessageProblem)
}

/// What became of a line.
public enum DecodeOutcome: Equatable {
    /// All of it was handled.
    case finished
    /// The handler stopped within a batch; the item that starts at this offset of the line is the next one.
    case stopped(offset: Int)
}

/// Turns lines into messages: checks the grammar, tells batches from single messages, and lets the dialect read the
/// fields. One thread at a time; what it hands out is good until the handler returns.
public final class MessageDecoder {
    private let lines = LineParser()
    private let items = LineParser()
    private var scratch = EscapeScratch()

    /// A decoder with working memory of its own.
    public init() {}

    /// Hands the message of a line, or each message of a batch, to `handle`, until `handle` returns false.
    public func decode(_ line: SplitLine, _ handle: (DecodedItem) -> Bool) -> DecodeOutcome {
        switch line {
        case .tooLarge(let prefix, let lineBytes):
            _ = handle(.problem(tooLarge(prefix, lineBytes)))
        case .line(let bytes):
            return decode(bytes, handle)
        }
        return .finished
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, _ handle: (DecodedItem) -> Bool) -> DecodeOutcome {
        let isBatch = bytes.first { !isSpace($0) } == UInt8(ascii: "[")
        do throws(GrammarError) {
            // A batch's brackets are no part of the messages in it.
            let parsed = try lines.parse(bytes, maximumDepth: LineParser.maximumDepth + (isBatch ? 1 : 0))
            if parsed.isArray { return decodeBatch(parsed, handle) }
            _ = handle(decodeItem(parsed))
        } catch {
            _ = handle(.problem(notJSON(bytes, error)))
        }
        scratch.reset()
        return .finished
    }

    private func decodeBatch(_ batch: ParsedLine, _ handle: (DecodedItem) -> Bool) -> DecodeOutcome {
        if batch.members.isEmpty {
            _ = handle(.problem(problem("an empty batch: a line holds one message or an array of at least one")))
        }
        for (number, member) in batch.members.enumerated() {
            let item: DecodedItem
            do throws(GrammarError) {
                item = decodeItem(try items.parse(batch.value(member)))
            } catch {
                item = .problem(problem("the item is not JSON: \(error.reason)"))
            }
            let goesOn = handle(item)
            scratch.reset()
            if !goesOn, number + 1 < batch.members.count {
                return .stopped(offset: Int(batch.members[number + 1].value_start))
            }
        }
        return .finished
    }

    private func decodeItem(_ parsed: ParsedLine) -> DecodedItem {
        guard parsed.isObject else {
            return .problem(problem("a message is a JSON object, this is \(Self.typeName(parsed.root))"))
        }
        return NativeDialect.decode(parsed, &scratch)
    }

    private func notJSON(_ bytes: UnsafeRawBufferPointer, _ error: GrammarError) -> MessageProblem {
        let prefix = UnsafeRawBufferPointer(rebasing: bytes.prefix(MessageSplitter.keptPrefixBytes))
        return MessageProblem(
            error: BridgeError(
                .messageInvalid, "the line is not JSON: \(error.reason)",
                data: error.offset > 0 ? ["offset": .number(JSONNumber(error.offset))] : nil),
            callbackID: CallbackIDSalvage.find(in: prefix, &scratch))
    }

    private func tooLarge(_ prefix: UnsafeRawBufferPointer, _ lineBytes: Int) -> MessageProblem {
        MessageProblem(
            error: BridgeError(
                .messageTooLarge, "the line of \(lineBytes) bytes is longer than a message may be; it was discarded"),
            callbackID: CallbackIDSalvage.find(in: prefix, &scratch))
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
