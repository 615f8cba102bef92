import BridgeJSON
import CBridgeJSON

/// Reads messages of other dialects: determines the dialect, and owns the memory that is allocated for a message. One
/// thread at a time.
///
/// `@exclusivity(unchecked)`: docs/architecture.md explains the reason.
final class ForeignReader {
    /// The last call that was read.
    let call: UnsafeMutablePointer<CallMessage>
    /// The schemes of URLs that are calls, in lowercase.
    @exclusivity(unchecked) var urlSchemes: [[UInt8]] = []
    @exclusivity(unchecked) private var scratch = EscapeScratch()
    private var lastNumber: UInt64 = 0
    /// The maximum length of a value that is read in one step and is not a task's options.
    static let maximumBytes = 64 * 1024
    /// The maximum number of members in an object of any length.
    static let maximumMembers = 16

    init() {
        call = .allocate(capacity: 1)
        call.initialize(to: CallMessage(task: DialectText.nothing, options: DialectText.nothing))
    }

    deinit { call.deallocate() }

    // MARK: Messages

    /// The dialect of a message, according to its fields.
    enum Kind {
        /// The native one, or none.
        case native
        case foreign(DialectID)
        /// Several dialects at once: their names, and the native fields.
        case mixture([String])
    }

    /// Determines the kind of a message from its fields.
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

    /// The result of reading a message.
    enum Outcome {
        /// A call, which is in ``call``.
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

    /// Returns a number that no message had before.
    func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Parts of messages. The results are valid as long as the message.

    func unescape(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer { scratch.unescape(content) }

    func id(_ text: UnsafeRawBufferPointer, isEscaped: Bool, _ dialect: DialectID) -> CallbackID? {
        CallbackID(text, isEscaped: isEscaped, dialect: dialect, &scratch)
    }

    func rpcID(_ text: UnsafeRawBufferPointer, isEscaped: Bool) -> CallbackID? {
        CallbackID(rpc: text, isEscaped: isEscaped, dialect: .jsonRPC, &scratch)
    }

    /// Returns memory for text of a dialect's own, with `count` bytes.
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer { scratch.take(count) }

    /// Copies text of a dialect's own.
    func text(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
        let copy = scratch.take(bytes.count)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    /// A value within a message; a part of its line.
    struct Value {
        let text: UnsafeRawBufferPointer

        /// Whether it is a string with escapes.
        var isEscaped: Bool { text.first == UInt8(ascii: "\"") && text.contains(UInt8(ascii: "\\")) }
    }

    /// Returns the value of an object's member; nil if it is not an object, has no such member, or has two.
    ///
    /// - Parameters:
    ///   - object: At most ``maximumBytes`` long, unless `isOnly`.
    ///   - isOnly: Whether it must be the only member: the search ends at any other.
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

    /// Whether a key, with its quotes, equals a name.
    private func isSame(_ key: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        WrittenName.isSame(key.slice(1, key.count - 2), as: UnsafeRawBufferPointer(name))
    }

    /// Returns the content of a string value; nil if it is not a string.
    func string(_ value: Value) -> UnsafeRawBufferPointer? {
        guard value.text.first == UInt8(ascii: "\"") else { return nil }
        let content = value.text.slice(1, value.text.count - 2)
        return value.isEscaped ? unescape(content) : content
    }

    /// Returns the values of members of an object of any length, in the order of the names. Nil if it is not an object,
    /// has one of them twice, or has more than ``maximumMembers`` members. The values are not read.
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
