import BridgeJSON
import CBridgeJSON

/// A message that may be of another dialect: its fields, as they stand on its line.
struct ForeignMessage {
    let line: ParsedLine
    /// The dialect that it is read in.
    var dialect = DialectID.native
    let reader: ForeignReader
    private let places: EnvelopePlaces

    init(_ line: ParsedLine, _ places: EnvelopePlaces, _ reader: ForeignReader) {
        self.line = line
        self.places = places
        self.reader = reader
    }

    /// Whether a field stands there more than once: it is not known which member is meant.
    var repeatsField: Bool { places.twice != 0 }

    /// The names of the fields, for errors: the first of them, each cut.
    var names: [String] {
        line.members.prefix(8).map { member in
            String(decoding: line.slice(member.key_start, member.key_length).prefix(32), as: UTF8.self)
        }
    }

    func has(_ field: EnvelopeField) -> Bool { places.has(field) }

    /// A field that stands there once.
    private func member(_ field: EnvelopeField) -> bridge_json_member? {
        places.twice & field.bit == 0 ? places.member(field, of: line)?.pointee : nil
    }

    // MARK: Values

    /// A field's value, any JSON.
    func value(_ field: EnvelopeField) -> UnsafeRawBufferPointer? { member(field).map(line.value) }

    /// A string's content.
    func string(_ field: EnvelopeField) throws(DialectMismatch) -> UnsafeRawBufferPointer {
        guard let member = member(field), member.type == UInt8(ascii: "\""), member.value_length > 2 else {
            throw DialectMismatch(field, "a string that is not empty")
        }
        let content = line.slice(member.value_start + 1, member.value_length - 2)
        return member.value_escaped ? reader.unescape(content) : content
    }

    func boolean(_ field: EnvelopeField) throws(DialectMismatch) -> Bool? {
        guard let member = member(field) else { return nil }
        switch member.type {
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

    // MARK: Ids

    /// The id of a call; nil: it has none.
    func id(_ field: EnvelopeField) throws(DialectMismatch) -> CallbackID? {
        guard let member = member(field) else { return nil }
        guard let id = reader.id(line.value(member), isEscaped: member.value_escaped, dialect) else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        return id
    }

    /// The id of a call of JSON-RPC's; nil: it has none.
    func rpcID(_ field: EnvelopeField) throws(DialectMismatch) -> CallbackID? {
        guard let member = member(field) else { return nil }
        guard let id = reader.rpcID(line.value(member), isEscaped: member.value_escaped) else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        return id
    }

    /// The id of a call that the daemon made: an integer, which the client may have made a string of.
    func answeredID(_ field: EnvelopeField) throws(DialectMismatch) -> CallbackID {
        guard let member = member(field), !member.value_escaped else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        var digits = line.value(member)
        if digits.first == UInt8(ascii: "\"") { digits = digits.slice(1, digits.count - 2) }
        guard let id = reader.id(digits, isEscaped: false, .native), !id.isString else {
            throw DialectMismatch(field, "the id of a call as it was sent, an integer")
        }
        return id
    }

    // MARK: Calls

    /// The message as a call, with what every dialect may say of one: `timeout`, `progress`, `session`, as in the
    /// native one.
    func call(
        _ task: UnsafeRawBufferPointer, _ options: UnsafeRawBufferPointer, id: CallbackID?, isPositional: Bool = false
    ) throws(DialectMismatch) -> ForeignMeaning {
        var call = CallMessage(task: task, options: options)
        call.callbackID = id
        call.dialect = dialect
        call.hasPositionalOptions = isPositional
        if let digits = value(.timeout) {
            guard let milliseconds = EnvelopeNumber.natural(digits), milliseconds > 0 else {
                throw DialectMismatch(.timeout, "an integer of milliseconds above 0")
            }
            call.timeoutMilliseconds = min(milliseconds, EnvelopeNumber.maximumTimeoutMilliseconds)
        }
        call.wantsProgress = try boolean(.progress) ?? false
        if let session = try natural(.session) { call.sessionNumber = min(session, CallMessage.anySession - 1) }
        reader.call.pointee = call
        return .call
    }
}
