// Dialects/: ways of writing messages. The native one is read by itself, because nearly every message is of it; each
// other one is a file that translates into and out of the same calls. The rest of the daemon knows none of them.
import BridgeJSON

/// A way of writing messages beside the native one: the native form of answers, wherever it has none of its own.
/// Stateless; one thread at a time.
///
/// To add one: a subclass, in a file of its own, and its line in ``Dialects``. A class, because dialects are kept where
/// no reference to them is counted: that would cost more than what most of them do.
class Dialect {
    /// What it is called, in lists and in errors.
    class var name: String { "none" }

    /// Enters the names of the fields that it reads.
    required init(_ names: inout FieldNames) {}

    /// The field that bears the id of a call, where an error about a bad message looks for it.
    var idField: FieldID { FieldID(.callbackID) }
    /// The fields by which the native dialect tells a message's kind, as far as this one has them too. Others beside a
    /// mark are two dialects at once.
    var sharedFields: [EnvelopeField] { [] }

    /// The meaning of a message. What it points to lies in the message or in the workspace.
    func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
        throw DialectMismatch("it is of no dialect")
    }

    // What is written of results, progress, data and options is JSON without a line break: the encoder sees to that.

    /// Writes the end of a call: its result, JSON.
    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        // An answer has an address.
        MessageEncoder.callback(id: address.id ?? DialectText.null, result: result, isOneLine: true, to: output)
    }

    /// Writes the end of a call: an error. Without an id it is about a message.
    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        MessageEncoder.callback(id: address.id, error: error, to: output)
    }

    /// Writes an intermediate result.
    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        MessageEncoder.progress(id: address.id ?? DialectText.null, value: progress, sequence: sequence, to: output)
    }

    /// Writes an event.
    func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        MessageEncoder.event(name: name, data: data, to: output)
    }

    /// Writes a call of a task that the client provides.
    func write(_ call: OutgoingCall, _ output: OutputBuffer) { MessageEncoder.call(call, to: output) }

    /// Writes that nobody waits any more for a call of a task that the client provides.
    func writeCancel(_ id: UInt64, _ output: OutputBuffer) { MessageEncoder.cancel(id: id, to: output) }
}

/// The dialects that there are.
public enum Dialects {
    /// All but the native one, and the names of their fields. At most fifteen. Unsafe in form only: made once, never
    /// written again, never given back; read where they lie, because a copy of one costs more than what it writes.
    nonisolated(unsafe) private static let table:
        (foreign: UnsafeBufferPointer<Unmanaged<Dialect>>, names: FieldNames) = {
            var names = FieldNames()
            let foreign: [Dialect] = [
                names.enter(WebViewJavascriptBridgeDialect.self),
                names.enter(JSONRPCDialect.self),
                names.enter(URLDialect.self),
                names.enter(FunctionCallDialect.self),
                names.enter(CapacitorDialect.self),
            ]
            let memory = UnsafeMutableBufferPointer<Unmanaged<Dialect>>.allocate(capacity: foreign.count)
            _ = memory.initialize(from: foreign.map { .passRetained($0) })
            return (UnsafeBufferPointer(memory), names)
        }()

    static var names: FieldNames { table.names }

    /// JSON-RPC, whose batches are answered as batches.
    public static let jsonRPC = DialectID(
        number: UInt8(1 + (table.foreign.firstIndex { $0.takeUnretainedValue() is JSONRPCDialect } ?? 0)))

    /// All of them, the native one first.
    public static var all: [DialectID] { (0...table.foreign.count).map { DialectID(number: UInt8($0)) } }

    /// The translator; nil: it is the native dialect, which needs none.
    @inline(__always)
    static func of(_ id: DialectID) -> Unmanaged<Dialect>? {
        guard id != .native, let first = table.foreign.baseAddress else { return nil }
        return first[Int(id.number) - 1]
    }
}

/// What a message of a dialect turned out to be.
enum DialectMessage {
    /// A call: it stands in the workspace.
    case call
    case other(BridgeMessage)
}

/// Why something is no message of the dialect that it seems to be: the end of a sentence.
struct DialectMismatch: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ field: FieldID, _ expected: String) { reason = "the field \(field.name) must be \(expected)" }

    init(_ field: EnvelopeField, _ expected: String) { self.init(FieldID(field), expected) }
}

/// Which dialect a message came in, and what answers it goes out in. A plain number: it stands in every call.
public struct DialectID: Sendable, Hashable {
    let number: UInt8

    /// The native dialect.
    public static let native = DialectID(number: 0)

    /// A bit for each dialect, for sets of them.
    public var bit: UInt32 { 1 &<< UInt32(number) }

    /// What the dialect is called.
    public var name: String { Dialects.of(self).map { type(of: $0.takeUnretainedValue()).name } ?? "native" }

    /// The dialect of this name, such as another version of the daemon knew it; nil: there is none here.
    public init?(named name: String) {
        guard let known = Dialects.all.first(where: { $0.name == name }) else { return nil }
        self = known
    }

    init(number: UInt8) { self.number = number }
}

/// Where the answer to a call goes.
public struct CallbackAddress {
    /// The dialect of the call.
    public var dialect: DialectID
    /// Its id as it came; nil: the answer is about a message.
    public var id: UnsafeRawBufferPointer?
    /// The task's name, where it is known; else empty.
    public var task: UnsafeRawBufferPointer
    /// Whether the message was not even JSON.
    public var isNotJSON = false

    /// An address.
    public init(_ dialect: DialectID, id: UnsafeRawBufferPointer?, task: UnsafeRawBufferPointer) {
        self.dialect = dialect
        self.id = id
        self.task = task
    }
}
