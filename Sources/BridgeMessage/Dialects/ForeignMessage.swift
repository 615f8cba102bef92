import BridgeJSON
import CBridgeJSON

/// The fields of a message that may be of another dialect.
struct ForeignMessage {
    let line: ParsedLine
    /// The dialect in which it is read.
    var dialect = DialectID.native
    let reader: ForeignReader
    private let places: EnvelopePlaces

    init(_ line: ParsedLine, _ places: EnvelopePlaces, _ reader: ForeignReader) {
        self.line = line
        self.places = places
        self.reader = reader
    }

    /// Whether a field occurs more than once, so that it is ambiguous.
    var repeatsField: Bool { places.twice != 0 }

    /// The names of the first fields, for errors; each name is cut.
    var names: [String] {
        line.members.prefix(8).map { member in
            String(decoding: line.slice(member.key_start, member.key_length).prefix(32), as: UTF8.self)
        }
    }

    func has(_ field: EnvelopeField) -> Bool { places.has(field) }

    /// Returns the member of a field that occurs exactly once; otherwise nil.
    private func member(_ field: EnvelopeField) -> bridge_json_member? {
        places.twice & field.bit == 0 ? places.member(field, of: line)?.pointee : nil
    }

    // MARK: Values

    /// Returns a field's value, any JSON; nil if there is none.
    func value(_ field: EnvelopeField) -> UnsafeRawBufferPointer? { member(field).map(line.value) }

    /// Returns the content of a string.
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

    /// Returns an integer of at least 0; nil if there is none. A number that does not fit into 64 bits becomes the
    /// largest that does.
    func natural(_ field: EnvelopeField) throws(DialectMismatch) -> UInt64? {
        guard let digits = value(field) else { return nil }
        guard let number = EnvelopeNumber.natural(digits) else {
            throw DialectMismatch(field, "an integer of 0 or more")
        }
        return number
    }

    // MARK: Ids

    /// Returns the id of a call; nil if it has none.
    func id(_ field: EnvelopeField) throws(DialectMismatch) -> CallbackID? {
        guard let member = member(field) else { return nil }
        guard let id = reader.id(line.value(member), isEscaped: member.value_escaped, dialect) else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        return id
    }

    /// Returns the id of a JSON-RPC call; nil if it has none.
    func rpcID(_ field: EnvelopeField) throws(DialectMismatch) -> CallbackID? {
        guard let member = member(field) else { return nil }
        guard let id = reader.rpcID(line.value(member), isEscaped: member.value_escaped) else {
            throw DialectMismatch(field, CallbackID.shape)
        }
        return id
    }

    /// Returns the id of a call that the daemon made: an integer, which the client may have converted to a string.
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

    /// Reads the message as a call, with the fields that every dialect may have: `timeout`, `progress`, `session`, as
    /// in the native one.
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
