public import BridgeJSON
import Glibc

/// Writes messages of the native dialect, one line each.
///
/// Results, options and data are complete JSON that has been checked; a line break that stands between their tokens
/// is written as a space, so that a message is always one line.
public enum MessageEncoder {
    /// The end of a call: its result.
    public static func callback(id: UnsafeRawBufferPointer, result: UnsafeRawBufferPointer, to output: OutputBuffer) {
        output.append(#"{"callbackId":"#)
        output.append(id)
        output.append(#","result":"#)
        appendOneLine(result, to: output)
        output.append("}\n")
    }

    /// The end of a call: an error. Without an id it is about a message, never about a call.
    public static func callback(id: UnsafeRawBufferPointer?, error: BridgeError, to output: OutputBuffer) {
        var bytes: [UInt8] = []
        error.write(to: &bytes)
        bytes.withUnsafeBytes { callback(id: id, errorObject: $0, to: output) }
    }

    /// The end of a call: an error object as it came.
    public static func callback(
        id: UnsafeRawBufferPointer?, errorObject: UnsafeRawBufferPointer, to output: OutputBuffer
    ) {
        output.append(#"{"callbackId":"#)
        if let id { output.append(id) } else { output.append("null") }
        output.append(#","error":"#)
        appendOneLine(errorObject, to: output)
        output.append("}\n")
    }

    /// An intermediate result.
    public static func progress(
        id: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, sequence: UInt64, to output: OutputBuffer
    ) {
        output.append(#"{"callbackId":"#)
        output.append(id)
        output.append(#","progress":"#)
        appendOneLine(value, to: output)
        output.append(#","sequence":"#)
        output.append(decimal: sequence)
        output.append("}\n")
    }

    /// An event.
    public static func event(name: String, data: UnsafeRawBufferPointer, to output: OutputBuffer) {
        output.append(#"{"event":"#)
        appendQuoted(name, to: output)
        output.append(#","data":"#)
        appendOneLine(data, to: output)
        output.append("}\n")
    }

    /// A cancel of a call that this side made under an integer id.
    public static func cancel(id: UInt64, to output: OutputBuffer) {
        output.append(#"{"cancel":"#)
        output.append(decimal: id)
        output.append("}\n")
    }

    /// A call that this side makes under an integer id.
    public static func call(_ call: OutgoingCall, to output: OutputBuffer) {
        output.append(#"{"task":"#)
        appendQuoted(call.task, to: output)
        output.append(#","options":"#)
        appendOneLine(call.options, to: output)
        if let id = call.id {
            output.append(#","callbackId":"#)
            output.append(decimal: id)
        }
        if let timeout = call.timeout {
            output.append(#","timeout":"#)
            output.append(decimal: milliseconds(timeout))
        }
        if call.wantsProgress { output.append(#","progress":true"#) }
        if let session = call.session {
            output.append(#","session":"#)
            output.append(decimal: session)
        }
        if let caller = call.caller {
            output.append(#","caller":"#)
            caller.withUnsafeBytes { output.append($0) }
        }
        output.append("}\n")
    }

    /// Whole milliseconds, rounded up, at least one: a deadline must not become none, nor come early.
    private static func milliseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1000)
        guard !whole.overflow else { return UInt64(Int64.max) }
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return UInt64(max(1, whole.partialValue + part))
    }

    private static func appendQuoted(_ string: String, to output: OutputBuffer) {
        var bytes: [UInt8] = []
        JSONText.appendQuoted(string, to: &bytes)
        bytes.withUnsafeBytes { output.append($0) }
    }

    private static func appendOneLine(_ json: UnsafeRawBufferPointer, to output: OutputBuffer) {
        guard let base = json.baseAddress, memchr(base, 0x0A, json.count) != nil else { return output.append(json) }
        for byte in json { output.append(byte == 0x0A ? 0x20 : byte) }
    }
}

/// What a call that this side makes consists of.
public struct OutgoingCall {
    /// The task's name.
    public var task: String
    /// Its options, JSON.
    public var options: UnsafeRawBufferPointer
    /// The id under which the callback shall come; nil: a one-way call.
    public var id: UInt64?
    /// How long the caller waits.
    public var timeout: Duration?
    /// Whether intermediate callbacks are wanted.
    public var wantsProgress: Bool
    /// Only a task that this session registered.
    public var session: UInt64?
    /// Who calls, as a JSON object: written by the daemon alone.
    public var caller: [UInt8]?

    /// A call; all but task and options may be left out.
    public init(
        task: String, options: UnsafeRawBufferPointer, id: UInt64? = nil, timeout: Duration? = nil,
        wantsProgress: Bool = false, session: UInt64? = nil, caller: [UInt8]? = nil
    ) {
        self.task = task
        self.options = options
        self.id = id
        self.timeout = timeout
        self.wantsProgress = wantsProgress
        self.session = session
        self.caller = caller
    }
}
