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
    /// As long may be what is read in one step and is no options of a task.
    static let maximumBytes = 64 * 1024
    /// As many members may an object of any length have.
    static let maximumMembers = 16

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
        /// Several together: their names, and the fields of the native one.
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
            if message.repeatsField { throw DialectMismatch("a field occurs twice") }
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

    /// Memory for so many bytes of a dialect's own making.
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer { scratch.take(count) }

    /// Text of a dialect's own making.
    func text(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
        let copy = scratch.take(bytes.count)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    /// A value within a message, a part of its line.
    struct Value {
        let text: UnsafeRawBufferPointer

        /// Of a string: it has escapes.
        var isEscaped: Bool { text.first == UInt8(ascii: "\"") && text.contains(UInt8(ascii: "\\")) }
    }

    /// The value of an object's member; nil: it is no object, or has none of that name, or two.
    ///
    /// - Parameters:
    ///   - object: of at most ``maximumBytes``, unless `isOnly`.
    ///   - isOnly: whether it must be the only member: the search ends at any other.
    func member(_ name: StaticString, of object: UnsafeRawBufferPointer, isOnly: Bool = false) -> Value? {
        var cursor = MemberCursor(object)
        var found: Value?
        while let member = cursor.next() {
            if isSame(member.key, name) {
                guard found == nil else { return nil }
                found = Value(text: member.value)
            } else if isOnly {
                return nil
            }
        }
        return found
    }

    /// Whether a key, with its quotes, is a name.
    private func isSame(_ key: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        WrittenName.isSame(key.slice(1, key.count - 2), as: UnsafeRawBufferPointer(name))
    }

    /// The content of a value that is a string; nil: it is none.
    func string(_ value: Value) -> UnsafeRawBufferPointer? {
        guard value.text.first == UInt8(ascii: "\"") else { return nil }
        let content = value.text.slice(1, value.text.count - 2)
        return value.isEscaped ? unescape(content) : content
    }

    /// The values of members of an object of any length, in the order of the names; nil: it is none, or has one of them
    /// twice, or more than ``maximumMembers``. They are not read.
    func values(_ names: [StaticString], of object: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer?]? {
        guard object.first == UInt8(ascii: "{") else { return nil }
        var found = [UnsafeRawBufferPointer?](repeating: nil, count: names.count)
        var cursor = MemberCursor(object)
        var count = 0
        while let member = cursor.next() {
            count += 1
            guard count <= Self.maximumMembers else { return nil }
            guard let index = names.firstIndex(where: { isSame(member.key, $0) }) else { continue }
            guard found[index] == nil else { return nil }
            found[index] = member.value
        }
        return found
    }
}
