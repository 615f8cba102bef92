// Dialects/: ways of writing messages. The native one is read by itself, because nearly every message is of it. Each
// other one is a file that translates into and out of the same calls, in plain code: a message of these may cost three
// times as much as a native one. The rest of the daemon knows none of them.
import BridgeJSON

/// A way of writing messages beside the native one: the native form of answers, wherever it has none of its own.
///
/// To add one: a type in a file of its own, its fields in ``EnvelopeField``, and its line in ``DialectID``.
protocol Dialect: Sendable {
    /// Whether a message is of this dialect.
    func recognition(of message: ForeignMessage) -> Recognition

    /// The fields by which the native dialect recognizes a message's kind, as far as this one has them too. With any
    /// other of them a message is of two dialects.
    var sharedFields: [EnvelopeField] { get }

    /// The id under which a message is answered; nil: no answer is wanted.
    func id(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID?

    /// The meaning of a message. What it points to lies in the message or in its reader's memory.
    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning

    // What is written of results, progress, data and options is JSON without a line break: the encoder sees to that.

    /// Writes the end of a call: its result, JSON.
    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer)

    /// Writes the end of a call: an error. Without an id it is about a message.
    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer)

    /// Writes an intermediate result.
    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer)

    /// Writes an event.
    func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer)

    /// Writes a call of a task that the client provides.
    func write(_ call: OutgoingCall, _ output: OutputBuffer)

    /// Writes that a call of a task that the client provides is cancelled.
    func writeCancel(_ id: UInt64, _ output: OutputBuffer)
}

extension Dialect {
    var sharedFields: [EnvelopeField] { [] }

    func id(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID? { try message.id(.callbackID) }

    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        // An answer has an address.
        MessageEncoder.callback(id: address.id ?? DialectText.null, result: result, isOneLine: true, to: output)
    }

    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        MessageEncoder.callback(id: address.id, error: error, to: output)
    }

    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        MessageEncoder.progress(id: address.id ?? DialectText.null, value: progress, sequence: sequence, to: output)
    }

    func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        MessageEncoder.event(name: name, data: data, to: output)
    }

    func write(_ call: OutgoingCall, _ output: OutputBuffer) { MessageEncoder.call(call, to: output) }

    func writeCancel(_ id: UInt64, _ output: OutputBuffer) { MessageEncoder.cancel(id: id, to: output) }
}

/// Whether a message is of a dialect.
enum Recognition {
    case none
    /// It is, where nothing else says what it is.
    case possible
    case certain
}

/// What a message of a dialect means.
enum ForeignMeaning {
    /// A call: it stands in the reader's memory.
    case call
    case other(BridgeMessage)
}

/// Why something is no message of the dialect that it seems to be: the end of a sentence.
struct DialectMismatch: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ field: EnvelopeField, _ expected: String) { reason = "the field \(field.name) must be \(expected)" }
}
