import BridgeJSON
import CBridgeJSON
import Glibc

/// Working memory for reading messages of foreign dialects, and what the configuration says of them. A handle, so that
/// nothing counts references: the decoder's memory makes it and frees it.
struct DialectWorkspace {
    fileprivate struct Storage: ~Copyable {
        var urlSchemes: [[UInt8]] = []
        var scratch = EscapeScratch()
        /// For values within a message: the parser of its line still holds the line.
        var inner = LineParser()
        /// Room for text of a dialect's own making, kept from message to message; longer text is allocated.
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        var takenBytes = 0

        deinit { room.deallocate() }
    }

    /// The call that was read last.
    let call: UnsafeMutablePointer<CallMessage>
    private let storage: UnsafeMutablePointer<Storage>

    init() {
        call = .allocate(capacity: 1)
        call.initialize(to: CallMessage(task: DialectText.nothing, options: DialectText.nothing))
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage())
        storage.pointee.room.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// The last that is done with it.
    func free() {
        call.deallocate()
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// The schemes of URLs that are calls, in small letters.
    var urlSchemes: [[UInt8]] {
        get { storage.pointee.urlSchemes }
        nonmutating set { storage.pointee.urlSchemes = newValue }
    }
    fileprivate var scratch: EscapeScratch {
        @inline(__always) _read { yield storage.pointee.scratch }
        @inline(__always) nonmutating _modify { yield &storage.pointee.scratch }
    }
    fileprivate var inner: LineParser {
        @inline(__always) _read { yield storage.pointee.inner }
        @inline(__always) nonmutating _modify { yield &storage.pointee.inner }
    }

    /// Everything that was made for the message before is invalid from here on.
    @inline(__always)
    func reset() {
        storage.pointee.scratch.reset()
        storage.pointee.takenBytes = 0
    }

    /// Memory for so many bytes, and the padding that every text has behind them; good as long as the message.
    @inline(__always)
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let neededBytes = count + MessageSplitter.paddingBytes
        let start = storage.pointee.takenBytes
        guard neededBytes <= storage.pointee.room.count - start, let room = storage.pointee.room.baseAddress else {
            return storage.pointee.scratch.take(count)
        }
        storage.pointee.takenBytes = start + (neededBytes + 15) & ~15
        return UnsafeMutableRawBufferPointer(start: room + start, count: count)
    }

    /// Whether two members of an object have one name, as it is written.
    func hasTwins(_ object: UnsafeRawBufferPointer) -> Bool {
        guard let parsed = try? inner.parse(inner.inCopy(of: object)) else { return true }
        var names: Set<[UInt8]> = []
        return parsed.members.contains { member in
            !names.insert(Array(parsed.slice(member.key_start, member.key_length))).inserted
        }
    }

    /// Text of a dialect's own making.
    func text(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = take(bytes.count)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }
}

/// The fields of one message, for a dialect to read.
struct DialectFields {
    let line: ParsedLine
    let dialect: DialectID
    let workspace: DialectWorkspace
    /// The fields that there are, a bit for each, and those that stand there twice.
    let present: UInt32
    let twice: UInt32
    /// The place of each among the members.
    let places: UnsafePointer<UInt32>

    typealias Member = UnsafePointer<bridge_json_member>

    /// The names of the fields, for errors: the first of them, each cut.
    var names: [String] {
        line.members.prefix(8).map { member in
            String(decoding: line.slice(member.key_start, member.key_length).prefix(32), as: UTF8.self)
        }
    }

    @inline(__always)
    func has(_ field: FieldID) -> Bool { present & field.bit != 0 }

    @inline(__always)
    func has(_ field: EnvelopeField) -> Bool { present & FieldID(field).bit != 0 }

    @inline(__always)
    private func member(_ field: FieldID) -> Member? {
        guard has(field), let members = line.members.baseAddress else { return nil }
        return members + Int(places[field.number])
    }

    /// A field's value, any JSON.
    @inline(__always)
    func value(_ field: FieldID) -> UnsafeRawBufferPointer? { member(field).map(text) }

    @inline(__always)
    func value(_ field: EnvelopeField) -> UnsafeRawBufferPointer? { value(FieldID(field)) }

    @inline(__always)
    private func text(_ member: Member) -> UnsafeRawBufferPointer {
        line.slice(member.pointee.value_start, member.pointee.value_length)
    }

    /// A string's content.
    @inline(__always)
    func string(_ field: FieldID) throws(DialectMismatch) -> UnsafeRawBufferPointer {
        guard let member = member(field), member.pointee.type == UInt8(ascii: "\""), member.pointee.value_length > 2
        else { throw DialectMismatch(field, "a string that is not empty") }
        let content = line.slice(member.pointee.value_start + 1, member.pointee.value_length - 2)
        return member.pointee.value_escaped ? workspace.scratch.unescape(content) : content
    }

    /// The id of a call; nil: it has none.
    @inline(__always)
    func id(_ field: FieldID) throws(DialectMismatch) -> CallbackID? {
        guard let member = member(field) else { return nil }
        guard let id = id(member) else { throw DialectMismatch(field, CallbackID.shape) }
        return id
    }

    /// The id of a call of JSON-RPC's; nil: it has none.
    @inline(__always)
    func rpcID(_ field: FieldID) throws(DialectMismatch) -> CallbackID? {
        guard let member = member(field) else { return nil }
        guard let id = rpcID((text(member), member.pointee.value_escaped)) else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        return id
    }

    /// The id of a bad message; nil: there is none, or nobody can say which one is meant.
    func readableID(_ field: FieldID) -> CallbackID? {
        guard twice & field.bit == 0, let member = member(field) else { return nil }
        return dialect == Dialects.jsonRPC ? rpcID((text(member), member.pointee.value_escaped)) : id(member)
    }

    @inline(__always)
    private func id(_ member: Member) -> CallbackID? {
        CallbackID(text(member), isEscaped: member.pointee.value_escaped, dialect: dialect, &workspace.scratch)
    }

    /// The id of a call that the daemon made: an integer, which the client may have made a string of.
    func answeredID(_ field: FieldID) throws(DialectMismatch) -> CallbackID {
        guard let member = member(field), !member.pointee.value_escaped else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        var digits = text(member)
        if digits.first == UInt8(ascii: "\"") { digits = digits.slice(1, digits.count - 2) }
        guard let id = CallbackID(digits, isEscaped: false, &workspace.scratch), !id.isString else {
            throw DialectMismatch(field, "the id of a call as it was sent, an integer")
        }
        return id
    }

    func boolean(_ field: FieldID) throws(DialectMismatch) -> Bool? {
        guard let member = member(field) else { return nil }
        switch member.pointee.type {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw DialectMismatch(field, "true or false")
        }
    }

    /// An integer from 0 on; what does not fit into 64 bits counts as the largest that does.
    func natural(_ field: EnvelopeField) throws(DialectMismatch) -> UInt64? {
        guard let digits = value(field) else { return nil }
        guard let number = EnvelopeNumber.natural(digits) else {
            throw DialectMismatch(field, "an integer of 0 or more")
        }
        return number
    }

    /// A call as the message, with what every dialect may say of one: `timeout`, `progress`, `session`, as in the
    /// native one.
    @inline(__always)
    func call(
        _ task: UnsafeRawBufferPointer, _ options: UnsafeRawBufferPointer, id: CallbackID?, isPositional: Bool = false
    ) throws(DialectMismatch) -> DialectMessage {
        let call = workspace.call
        call.pointee.task = task
        call.pointee.options = options
        call.pointee.callbackID = id
        call.pointee.dialect = dialect
        call.pointee.hasPositionalOptions = isPositional
        call.pointee.timeoutMilliseconds = 0
        call.pointee.wantsProgress = false
        call.pointee.sessionNumber = CallMessage.anySession
        let extras = FieldID(.timeout).bit | FieldID(.progress).bit | FieldID(.session).bit
        if present & extras != 0 { try readExtras(call) }
        return .call
    }

    private func readExtras(_ call: UnsafeMutablePointer<CallMessage>) throws(DialectMismatch) {
        if let digits = value(.timeout) {
            guard let milliseconds = EnvelopeNumber.natural(digits), milliseconds > 0 else {
                throw DialectMismatch(.timeout, "an integer of milliseconds above 0")
            }
            call.pointee.timeoutMilliseconds = min(milliseconds, EnvelopeNumber.longestTimeoutMilliseconds)
        }
        if let wanted = try boolean(FieldID(.progress)) { call.pointee.wantsProgress = wanted }
        if let session = try natural(.session) { call.pointee.sessionNumber = min(session, CallMessage.anySession - 1) }
    }

    // MARK: Within a value

    /// The value of an object's member, good until the next such call; nil: it is no object, or has none of that name,
    /// or two.
    ///
    /// - Parameter isOnly: whether it must be the only member.
    func member(
        _ name: StaticString, of object: UnsafeRawBufferPointer, isOnly: Bool = false
    ) -> (text: UnsafeRawBufferPointer, isEscaped: Bool)? {
        guard object.first == UInt8(ascii: "{") else { return nil }
        // The line has been checked, all of it: this cannot fail.
        guard let parsed = try? workspace.inner.parse(workspace.inner.inCopy(of: object)) else { return nil }
        guard !isOnly || parsed.members.count == 1 else { return nil }
        let wanted = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        let found = parsed.members.filter { member in
            let key = parsed.slice(member.key_start, member.key_length)
            return (member.key_escaped ? workspace.scratch.unescape(key) : key).elementsEqual(wanted)
        }
        guard let member = found.first, found.count == 1 else { return nil }
        return (parsed.value(member), member.value_escaped)
    }

    /// An id of JSON-RPC's, which may stand within a value.
    @inline(__always)
    func rpcID(_ member: (text: UnsafeRawBufferPointer, isEscaped: Bool)) -> CallbackID? {
        CallbackID(rpc: member.text, isEscaped: member.isEscaped, dialect: dialect, &workspace.scratch)
    }

    /// Text of a dialect's own making, which lives as long as the message.
    func text(_ bytes: [UInt8]) -> UnsafeRawBufferPointer { workspace.text(bytes) }
}

/// Constant parts of messages.
enum DialectText {
    // With the padding that every text has. Unsafe in form only: made once, never written again, never given back.
    nonisolated(unsafe) static let emptyObject = literal("{}")
    nonisolated(unsafe) static let null = literal("null")
    nonisolated(unsafe) static let nothing = UnsafeRawBufferPointer(start: nil, count: 0)

    private static func literal(_ text: String) -> UnsafeRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: text.utf8.count + MessageSplitter.paddingBytes, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyBytes(from: text.utf8)
        return UnsafeRawBufferPointer(rebasing: bytes[..<text.utf8.count])
    }
}
