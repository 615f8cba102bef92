import BridgeJSON
import Glibc

// Parts that messages of all dialects consist of.
extension OutputBuffer {
    /// Appends JSON that has been checked; a line break that stands between its tokens as a space, so that a message is
    /// always one line.
    func append(oneLine json: UnsafeRawBufferPointer) {
        guard MessageEncoder.bearsLineBreak(json) else { return append(json) }
        for byte in json { append(byte == 0x0A ? 0x20 : byte) }
    }

    /// Appends a JSON string.
    func append(quoted string: String) {
        var bytes: [UInt8] = []
        JSONText.appendQuoted(string, to: &bytes)
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends a JSON string of these bytes, most of which need no escape.
    func append(quoted text: UnsafeRawBufferPointer) {
        var isPlain = true
        for byte in text where byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            isPlain = false
        }
        guard isPlain else {
            return append(quoted: String(decoding: text, as: UTF8.self))
        }
        append(UInt8(ascii: "\""))
        append(text)
        append(UInt8(ascii: "\""))
    }

    /// Appends an error object.
    func append(json error: BridgeError) {
        var bytes: [UInt8] = []
        error.write(to: &bytes)
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends a value.
    func append(json value: JSON) { value.bytes.withUnsafeBytes { append($0) } }

    /// Appends what a call says beside its task, options and id, each with a comma before it: the same in all dialects.
    func append(extrasOf call: OutgoingCall) {
        if let nanoseconds = call.timeoutNanoseconds {
            append(#","timeout":"#)
            // Rounded up, at least one: a deadline must not become none, nor come early.
            append(decimal: max(1, nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)))
        }
        if call.wantsProgress { append(#","progress":true"#) }
        if let session = call.session {
            append(#","session":"#)
            append(decimal: session)
        }
        if let caller = call.caller {
            append(#","caller":"#)
            append(caller)
        }
    }
}

// Messages in the dialect of whom they are for.
extension MessageEncoder {
    /// The end of a call: its result.
    ///
    /// - Parameter isOneLine: whether the result is known to bear no line break.
    @inline(__always)
    public static func callback(
        to address: CallbackAddress, result: UnsafeRawBufferPointer, isOneLine: Bool = false, _ output: OutputBuffer
    ) {
        if address.dialect == .native, let id = address.id {
            callback(id: id, result: result, isOneLine: isOneLine, to: output)
        } else {
            Dialects.of(address.dialect)?.write(result: result, to: address, output)
        }
    }

    /// The end of a call: an error. Without an id it is about a message.
    public static func callback(to address: CallbackAddress, error: BridgeError, _ output: OutputBuffer) {
        guard let dialect = Dialects.of(address.dialect) else {
            return callback(id: address.id, error: error, to: output)
        }
        dialect.write(error: error, to: address, output)
    }

    /// An intermediate result.
    public static func progress(
        to address: CallbackAddress, value: UnsafeRawBufferPointer, sequence: UInt64, _ output: OutputBuffer
    ) {
        guard let dialect = Dialects.of(address.dialect) else {
            return progress(id: address.id ?? DialectText.null, value: value, sequence: sequence, to: output)
        }
        dialect.write(progress: value, sequence: sequence, to: address, output)
    }

    /// An event.
    public static func event(
        in dialect: DialectID, name: String, data: UnsafeRawBufferPointer, to output: OutputBuffer
    ) {
        guard let dialect = Dialects.of(dialect) else { return event(name: name, data: data, to: output) }
        dialect.writeEvent(name, data: data, output)
    }

    /// A call of a task that a client provides.
    @inline(__always)
    public static func call(_ outgoing: OutgoingCall, in dialect: DialectID, to output: OutputBuffer) {
        if dialect == .native { return call(outgoing, to: output) }
        Dialects.of(dialect)?.write(outgoing, output)
    }

    /// That nobody waits any more for a call of a task that a client provides.
    public static func cancel(id: UInt64, in dialect: DialectID, to output: OutputBuffer) {
        guard let dialect = Dialects.of(dialect) else { return cancel(id: id, to: output) }
        dialect.writeCancel(id, output)
    }
}
