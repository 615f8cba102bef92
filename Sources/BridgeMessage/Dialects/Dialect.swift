// Dialects/: forms of messages. The native dialect has its own reader, because nearly every message uses it. Each other
// dialect is a file that translates to and from the same calls in simple code: its messages may cost three times as
// much as native ones. The rest of the daemon does not depend on any dialect.
import BridgeJSON

/// A form of messages other than the native one. By default, its answers have the native form.
///
/// To add one: a type in a file of its own, its fields in ``EnvelopeField``, and its line in ``DialectID``.
protocol Dialect: Sendable {
    /// Returns whether a message is of this dialect.
    func recognition(of message: ForeignMessage) -> Recognition

    /// The fields that determine the kind of a native message and that this dialect also has. A message with any other
    /// such field mixes two dialects.
    var sharedFields: [EnvelopeField] { get }

    /// Returns the id for the answer to a message; nil if no answer is requested.
    func id(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID?

    /// Returns the meaning of a message. It points into the message or the memory of its reader.
    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning

    // Results, progress, data and options are written as JSON without a line break; the encoder ensures this.

    /// Writes the end of a call: its result, as JSON.
    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer)

    /// Writes the end of a call: an error. Without an id, the error is about a message.
    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer)

    /// Writes an intermediate result.
    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer)

    /// Writes an event.
    func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer)

    /// Writes a call of a task that the client provides.
    func write(_ call: OutgoingCall, _ output: OutputBuffer)

    /// Writes the cancellation of a call of a task that the client provides.
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
    /// It is of the dialect, unless another dialect matches.
    case possible
    case certain
}

/// The meaning of a message of a dialect.
enum ForeignMeaning {
    /// A call, which is in the reader's memory.
    case call
    case other(BridgeMessage)
}

/// The reason why a message does not conform to its apparent dialect, as the end of a sentence.
struct DialectMismatch: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ field: EnvelopeField, _ expected: String) { reason = "the field \(field.name) must be \(expected)" }
}
