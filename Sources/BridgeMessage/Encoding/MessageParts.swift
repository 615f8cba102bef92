import BridgeJSON
import Glibc

// Parts of messages of all dialects.
extension OutputBuffer {
    /// Appends a message of the usual form: two values between fixed parts.
    @inline(__always)
    func append(
        _ head: StaticString, _ id: UnsafeRawBufferPointer, _ middle: StaticString, _ value: UnsafeRawBufferPointer,
        _ tail: StaticString
    ) {
        let literals = head.utf8CodeUnitCount + middle.utf8CodeUnitCount + tail.utf8CodeUnitCount
        append(count: literals + id.count + value.count) { destination in
            var next = destination
            Self.put(head, &next)
            Self.put(id, &next)
            Self.put(middle, &next)
            Self.put(value, &next)
            Self.put(tail, &next)
        }
    }

    @inline(__always)
    private static func put(_ text: StaticString, _ destination: inout UnsafeMutableRawPointer) {
        memcpy(destination, text.utf8Start, text.utf8CodeUnitCount)
        destination += text.utf8CodeUnitCount
    }

    @inline(__always)
    private static func put(_ bytes: UnsafeRawBufferPointer, _ destination: inout UnsafeMutableRawPointer) {
        guard let start = bytes.baseAddress else { return }
        memcpy(destination, start, bytes.count)
        destination += bytes.count
    }

    /// Appends a JSON string.
    func append(quoted string: String) {
        var bytes: [UInt8] = []
        JSONText.appendQuoted(string, to: &bytes)
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends a JSON string of these bytes, most of which need no escape.
    func append(quoted text: UnsafeRawBufferPointer) {
        guard Self.needsNoEscape(text) else { return append(quoted: String(decoding: text, as: UTF8.self)) }
        append(UInt8(ascii: "\""))
        append(text)
        append(UInt8(ascii: "\""))
    }

    /// Whether the bytes are ASCII characters that need no escape in a JSON string.
    @inline(__always)
    static func needsNoEscape(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress, text.count >= 8 else { return text.allSatisfy(isPlain) }
        // Eight bytes at a time; some of the last eight may be checked twice.
        for offset in stride(from: 0, to: text.count - 8, by: 8) {
            guard arePlain(start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) else { return false }
        }
        return arePlain(start.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self))
    }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Does the same as ``isPlain`` for eight bytes: a sum sets a byte's highest bit if the lower seven reach a value.
    @inline(__always)
    private static func arePlain(_ bytes: UInt64) -> Bool {
        let each: UInt64 = 0x0101_0101_0101_0101
        let highest = each &* 0x80
        let low = bytes & ~highest
        let quotes = (low ^ each &* UInt64(UInt8(ascii: "\""))) &+ each &* 0x7F
        let backslashes = (low ^ each &* UInt64(UInt8(ascii: "\\"))) &+ each &* 0x7F
        let printed = low &+ each &* (0x80 - 0x20)
        let deleted = low &+ each
        return (bytes | ~quotes | ~backslashes | ~printed | deleted) & highest == 0
    }

    /// Appends an error object.
    func append(json error: BridgeError) {
        var bytes: [UInt8] = []
        error.write(to: &bytes)
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends a value.
    func append(json value: JSON) { value.bytes.withUnsafeBytes { append($0) } }

    /// Appends the fields of a call other than task, options and id, each with a leading comma: the same in all
    /// dialects.
    func append(extrasOf call: OutgoingCall) {
        if let nanoseconds = call.timeoutNanoseconds {
            append(#","timeout":"#)
            // Rounded up and at least 1: a deadline must not disappear or come early.
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

// Messages in the dialect of their receiver.
extension MessageEncoder {
    /// Writes the end of a call: its result.
    ///
    /// - Parameter isOneLine: Whether the result is known to contain no line break.
    @inline(__always)
    public static func callback(
        to address: CallbackAddress, result: UnsafeRawBufferPointer, isOneLine: Bool = false, _ output: OutputBuffer
    ) {
        if address.dialect == .native, let id = address.id {
            callback(id: id, result: result, isOneLine: isOneLine, to: output)
        } else if let dialect = address.dialect.translator {
            onOneLine(result, isKnown: isOneLine) { dialect.write(result: $0, to: address, output) }
        }
    }

    /// Writes the end of a call: an error. Without an id, the error is about a message.
    public static func callback(to address: CallbackAddress, error: BridgeError, _ output: OutputBuffer) {
        guard let dialect = address.dialect.translator else {
            return callback(id: address.id, error: error, to: output)
        }
        dialect.write(error: error, to: address, output)
    }

    /// Writes an intermediate result.
    public static func progress(
        to address: CallbackAddress, value: UnsafeRawBufferPointer, sequence: UInt64, _ output: OutputBuffer
    ) {
        guard let dialect = address.dialect.translator else {
            return progress(id: address.id ?? DialectText.null, value: value, sequence: sequence, to: output)
        }
        onOneLine(value) { dialect.write(progress: $0, sequence: sequence, to: address, output) }
    }

    /// Writes an event. Only the native dialect states whether it is retained.
    public static func event(
        in dialect: DialectID, name: String, data: UnsafeRawBufferPointer, isRetained: Bool = false,
        to output: OutputBuffer
    ) {
        guard let dialect = dialect.translator else {
            return event(name: name, data: data, isRetained: isRetained, to: output)
        }
        onOneLine(data) { dialect.writeEvent(name, data: $0, output) }
    }

    /// Writes a call of a task that a client provides.
    @inline(__always)
    public static func call(_ outgoing: OutgoingCall, in dialect: DialectID, to output: OutputBuffer) {
        if dialect == .native { return call(outgoing, to: output) }
        guard let dialect = dialect.translator else { return }
        onOneLine(outgoing.options, isKnown: outgoing.isOneLine) { options in
            var call = outgoing
            call.options = options
            call.isOneLine = true
            dialect.write(call, output)
        }
    }

    /// Writes the cancellation of a call of a task that a client provides.
    public static func cancel(id: UInt64, in dialect: DialectID, to output: OutputBuffer) {
        guard let dialect = dialect.translator else { return cancel(id: id, to: output) }
        dialect.writeCancel(id, output)
    }
}
