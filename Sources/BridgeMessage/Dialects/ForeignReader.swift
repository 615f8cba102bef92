import BridgeJSON
import CBridgeJSON

/// Reads messages of other dialects: finds out which one a message is of, and keeps the memory of what was made for it.
/// One thread at a time.
final class ForeignReader {
    /// The call that was read last.
    let call: UnsafeMutablePointer<CallMessage>
    /// The schemes of URLs that are calls, in small letters.
    var urlSchemes: [[UInt8]] = []
    private var scratch = EscapeScratch()
    private var lastNumber: UInt64 = 0
    /// For values within a message: the parser of its line still holds the line.
    private var values = LineParser()

    init() {
        call = .allocate(capacity: 1)
        call.initialize(to: CallMessage(task: DialectText.nothing, options: DialectText.nothing))
    }

    deinit { call.deallocate() }

    // MARK: Messages

    /// The dialect of a message, as far as its fields say.
    enum Kind {
        /// The native one, or none.
        case native
        case foreign(DialectID)
        /// Several at once: their names, and the fields of the native one.
        case mixture([String])
    }

    /// What the fields of a message say.
    func kind(of message: ForeignMessage) -> Kind {
        var certain: DialectID?
        var possible: DialectID?
        var (others, isUnclear): ([DialectID], Bool) = ([], false)
        for dialect in DialectID.foreign {
            switch dialect.translator?.recognition(of: message) {
            case .certain where certain == nil: certain = dialect
            case .certain: others.append(dialect)
            case .possible:
                isUnclear = possible != nil
                possible = dialect
            case .some(.none), nil: break
            }
        }
        let native = NativeDialect.kinds.filter(message.has)
        guard let certain else {
            guard let possible, !isUnclear, native.isEmpty, !message.has(.callbackID) else { return .native }
            return .foreign(possible)
        }
        let shared = certain.translator?.sharedFields ?? []
        if others.isEmpty, native.allSatisfy(shared.contains) { return .foreign(certain) }
        let fields = native.map { "\($0.name)" }.joined(separator: ", ")
        let names = ([certain] + others).map(\.name)
        return .mixture(names + (fields.isEmpty ? [] : ["the native dialect (\(fields))"]))
    }

    /// What became of a message.
    enum Outcome {
        /// It is a call, which stands in ``call``.
        case call
        case message(BridgeMessage)
        case problem(MessageProblem)
    }

    /// Reads a message of a dialect.
    func read(_ message: ForeignMessage) -> Outcome {
        scratch.reset()
        guard let dialect = message.dialect.translator else {
            preconditionFailure("the native dialect is read by itself")
        }
        do throws(DialectMismatch) {
            if message.twice != 0 { throw DialectMismatch("a field stands twice") }
            switch try dialect.read(message) {
            case .call: return .call
            case .other(let message): return .message(message)
            }
        } catch {
            let seen = message.names.joined(separator: ", ")
            let reason = "\(error.reason) (\(message.dialect.name); seen: \(seen))"
            return .problem(
                MessageProblem(
                    error: BridgeError(.messageInvalid, reason), callbackID: try? dialect.id(of: message),
                    dialect: message.dialect))
        }
    }

    /// A number that no message had before.
    func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Parts of messages. What they return is good as long as the message.

    func unescape(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer { scratch.unescape(content) }

    func id(_ text: UnsafeRawBufferPointer, isEscaped: Bool, _ dialect: DialectID) -> CallbackID? {
        CallbackID(text, isEscaped: isEscaped, dialect: dialect, &scratch)
    }

    func rpcID(_ text: UnsafeRawBufferPointer, isEscaped: Bool) -> CallbackID? {
        CallbackID(rpc: text, isEscaped: isEscaped, dialect: .jsonRPC, &scratch)
    }

    /// Text of a dialect's own making.
    func text(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
        let copy = scratch.take(bytes.count)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    /// The value of an object's member, good until the next such call; nil: it is no object, or has none of that name,
    /// or two.
    ///
    /// - Parameter isOnly: whether it must be the only member.
    func member(
        _ name: StaticString, of object: UnsafeRawBufferPointer, isOnly: Bool = false
    ) -> (text: UnsafeRawBufferPointer, isEscaped: Bool)? {
        guard let parsed = cut(object), !isOnly || parsed.members.count == 1 else { return nil }
        let found = parsed.members.filter { member in
            let key = parsed.slice(member.key_start, member.key_length)
            return (member.key_escaped ? unescape(key) : key).elementsEqual(UnsafeRawBufferPointer(name))
        }
        guard let member = found.first, found.count == 1 else { return nil }
        return (parsed.value(member), member.value_escaped)
    }

    /// The content of a member that is a string; nil: it is none.
    func string(_ member: (text: UnsafeRawBufferPointer, isEscaped: Bool)) -> UnsafeRawBufferPointer? {
        guard member.text.first == UInt8(ascii: "\"") else { return nil }
        let content = member.text.slice(1, member.text.count - 2)
        return member.isEscaped ? unescape(content) : content
    }

    /// The values of members of an object, in the order of the names; nil: it is none, or has one of them twice. Good
    /// until the next such call.
    func values(_ names: [StaticString], of object: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer?]? {
        guard let parsed = cut(object) else { return nil }
        var found = [UnsafeRawBufferPointer?](repeating: nil, count: names.count)
        for member in parsed.members {
            let written = parsed.slice(member.key_start, member.key_length)
            let key = member.key_escaped ? unescape(written) : written
            guard let index = names.firstIndex(where: { key.elementsEqual(UnsafeRawBufferPointer($0)) }) else {
                continue
            }
            guard found[index] == nil else { return nil }
            found[index] = parsed.value(member)
        }
        return found
    }

    /// The members of an object within a line whose grammar has been checked; nil: it is none.
    private func cut(_ object: UnsafeRawBufferPointer) -> ParsedLine? {
        guard object.first == UInt8(ascii: "{") else { return nil }
        return try? values.parse(values.inCopy(of: object))
    }
}
