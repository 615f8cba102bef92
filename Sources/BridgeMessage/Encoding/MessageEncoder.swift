public import BridgeJSON
import Glibc

/// Writes messages of the native dialect, one line each.
///
/// Results, options and data are complete JSON that has been checked; a line break that stands between their tokens
/// is written as a space, so that a message is always one line.
public enum MessageEncoder {
    /// The end of a call: its result.
    ///
    /// - Parameter isOneLine: whether the result is known to bear no line break, as a part of a line does.
    public static func callback(
        id: UnsafeRawBufferPointer, result: UnsafeRawBufferPointer, isOneLine: Bool = false, to output: OutputBuffer
    ) {
        onOneLine(result, isKnown: isOneLine) { output.append(#"{"callbackId":"#, id, #","result":"#, $0, "}\n") }
    }

    /// The end of a call that the peer made under an integer id: its result.
    ///
    /// - Parameter isOneLine: whether the result is known to bear no line break.
    public static func callback(
        number: UInt64, result: UnsafeRawBufferPointer, isOneLine: Bool = false, to output: OutputBuffer
    ) {
        onOneLine(result, isKnown: isOneLine) { result in
            output.append(#"{"callbackId":"#)
            output.append(decimal: number)
            output.append(#","result":"#)
            output.append(result)
            output.append("}\n")
        }
    }

    /// The end of a call: an error. Without an id it is about a message, never about a call.
    public static func callback(id: UnsafeRawBufferPointer?, error: BridgeError, to output: OutputBuffer) {
        output.append(#"{"callbackId":"#)
        if let id { output.append(id) } else { output.append("null") }
        output.append(#","error":"#)
        output.append(json: error)
        output.append("}\n")
    }

    /// An intermediate result.
    public static func progress(
        id: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, sequence: UInt64, to output: OutputBuffer
    ) {
        output.append(#"{"callbackId":"#)
        output.append(id)
        output.append(#","progress":"#)
        onOneLine(value) { output.append($0) }
        output.append(#","sequence":"#)
        output.append(decimal: sequence)
        output.append("}\n")
    }

    /// An event.
    ///
    /// - Parameter isRetained: Whether later subscribers get it as well.
    public static func event(
        name: String, data: UnsafeRawBufferPointer, isRetained: Bool = false, to output: OutputBuffer
    ) {
        output.append(#"{"event":"#)
        output.append(quoted: name)
        if isRetained { output.append(#","retained":true"#) }
        output.append(#","data":"#)
        onOneLine(data) { output.append($0) }
        output.append("}\n")
    }

    /// A cancel of a call that this side made under an integer id.
    public static func cancel(id: UInt64, to output: OutputBuffer) {
        output.append(#"{"cancel":"#)
        output.append(decimal: id)
        output.append("}\n")
    }

    /// A call that this side makes under an integer id. The options stand last: of a line that is too long for its
    /// reader the beginning is kept, and with it the id under which it can be answered.
    public static func call(_ call: OutgoingCall, to output: OutputBuffer) {
        output.append(#"{"task":"#)
        output.append(call.quotedTask)
        if let id = call.id {
            output.append(#","callbackId":"#)
            output.append(decimal: id)
        }
        output.append(extrasOf: call)
        output.append(#","options":"#)
        onOneLine(call.options, isKnown: call.isOneLine) { output.append($0) }
        output.append("}\n")
    }

    /// Lends JSON that has been checked, with a space for each line break that stands between its tokens: nearly always
    /// the very bytes.
    @inline(__always)
    static func onOneLine(
        _ json: UnsafeRawBufferPointer, isKnown: Bool = false, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        guard !isKnown, let start = json.baseAddress, memchr(start, 0x0A, json.count) != nil else { return body(json) }
        json.map { $0 == 0x0A ? 0x20 : $0 }.withUnsafeBytes(body)
    }
}

/// What a call that this side makes consists of. Everything is borrowed.
public struct OutgoingCall {
    /// The task's name, as a JSON string.
    public var quotedTask: UnsafeRawBufferPointer
    /// Its options, JSON.
    public var options: UnsafeRawBufferPointer
    /// Whether the options are known to bear no line break, as a part of a line does.
    public var isOneLine = false
    /// The id under which the callback shall come; nil: a one-way call.
    public var id: UInt64?
    /// How long the caller waits; nil: it does not say.
    public var timeoutNanoseconds: UInt64?
    /// Whether intermediate callbacks are wanted.
    public var wantsProgress = false
    /// Only a task that this session registered.
    public var session: UInt64?
    /// Who calls, as a JSON object: written by the daemon alone.
    public var caller: UnsafeRawBufferPointer?

    /// A call; what else there is to say is set afterwards.
    public init(quotedTask: UnsafeRawBufferPointer, options: UnsafeRawBufferPointer) {
        self.quotedTask = quotedTask
        self.options = options
    }

    /// Sets how long the caller waits, in whole nanoseconds, from zero to what 64 bits with a sign hold.
    public mutating func setTimeout(_ duration: Duration?) {
        timeoutNanoseconds = duration.map { duration in
            let (seconds, attoseconds) = duration.components
            guard seconds >= 0, attoseconds >= 0 else { return 0 }
            let (whole, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
            return isOver ? UInt64(Int64.max) : min(whole + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
        }
    }
}
