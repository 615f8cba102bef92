public import BridgeJSON
import Glibc

/// Writes messages of the native dialect, one line each.
///
/// Results, options and data are complete JSON that has been checked. A line break between their tokens is written as a
/// space, so that a message is always one line.
public enum MessageEncoder {
    /// Writes the end of a call: its result.
    ///
    /// - Parameter isOneLine: Whether the result is known to contain no line break, such as a part of a line.
    public static func callback(
        id: UnsafeRawBufferPointer, result: UnsafeRawBufferPointer, isOneLine: Bool = false, to output: OutputBuffer
    ) {
        onOneLine(result, isKnown: isOneLine) { output.append(#"{"callbackId":"#, id, #","result":"#, $0, "}\n") }
    }

    /// Writes the end of a call that the peer made with an integer id: its result.
    ///
    /// - Parameter isOneLine: Whether the result is known to contain no line break.
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

    /// Writes the end of a call: an error. Without an id, the error is about a message, never about a call.
    public static func callback(id: UnsafeRawBufferPointer?, error: BridgeError, to output: OutputBuffer) {
        output.append(#"{"callbackId":"#)
        if let id { output.append(id) } else { output.append("null") }
        output.append(#","error":"#)
        output.append(json: error)
        output.append("}\n")
    }

    /// Writes an intermediate result.
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

    /// Writes an event.
    ///
    /// - Parameter isRetained: Whether later subscribers also receive it.
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

    /// Writes the cancellation of a call that this side made with an integer id.
    public static func cancel(id: UInt64, to output: OutputBuffer) {
        output.append(#"{"cancel":"#)
        output.append(decimal: id)
        output.append("}\n")
    }

    /// Writes a call that this side makes with an integer id. The options come last: the reader keeps the beginning of
    /// a line that is too long, and with it the id for the answer.
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

    /// Passes JSON that has been checked to `body`, with a space for each line break between its tokens. The bytes are
    /// nearly always passed unchanged.
    @inline(__always)
    static func onOneLine(
        _ json: UnsafeRawBufferPointer, isKnown: Bool = false, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        guard !isKnown, let start = json.baseAddress, memchr(start, 0x0A, json.count) != nil else { return body(json) }
        json.map { $0 == 0x0A ? 0x20 : $0 }.withUnsafeBytes(body)
    }
}

/// The parts of a call that this side makes. Everything is borrowed.
public struct OutgoingCall {
    /// The task's name, as a JSON string.
    public var quotedTask: UnsafeRawBufferPointer
    /// Its options, JSON.
    public var options: UnsafeRawBufferPointer
    /// Whether the options are known to contain no line break, such as a part of a line.
    public var isOneLine = false
    /// The id for the callback; nil for a one-way call.
    public var id: UInt64?
    /// The time that the caller waits; nil if unspecified.
    public var timeoutNanoseconds: UInt64?
    /// Whether intermediate callbacks are requested.
    public var wantsProgress = false
    /// The session that must have registered the task; nil for any.
    public var session: UInt64?
    /// The caller as a JSON object, which only the daemon writes; nil if unspecified.
    public var caller: UnsafeRawBufferPointer?

    /// Creates a call. The caller sets the other properties afterwards.
    public init(quotedTask: UnsafeRawBufferPointer, options: UnsafeRawBufferPointer) {
        self.quotedTask = quotedTask
        self.options = options
    }

    /// Sets the time that the caller waits, in whole nanoseconds, from 0 to the maximum of a signed 64-bit integer.
    public mutating func setTimeout(_ duration: Duration?) {
        timeoutNanoseconds = duration.map { duration in
            let (seconds, attoseconds) = duration.components
            guard seconds >= 0, attoseconds >= 0 else { return 0 }
            let (whole, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
            return isOver ? UInt64(Int64.max) : min(whole + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
        }
    }
}
