// BridgeMessage: the messages of the bridge. Converts bytes, however they are split, to values. No I/O.
//
//   Wire/      splits bytes into lines, and lines into members: framing and grammar, without meaning
//   Messages/  the meaning of a line: call, callback, progress, cancel, event
//   Dialects/  the forms in which messages are written; one file for each
//   Encoding/  writes messages into an output buffer
//
// A decoded message borrows the bytes of its line and is valid until the handler of that line returns. To keep a part
// of it, copy that part. Nothing here allocates for a valid message.

public import BridgeJSON

/// A message other than a call, as in a line of the native dialect. Borrows the line's bytes.
public enum BridgeMessage {
    /// The end of a call that this side made.
    case callback(CallbackMessage)
    /// An intermediate result of a call that this side made.
    case progress(ProgressMessage)
    /// The other side cancels one of its calls.
    case cancel(CallbackID)
    /// An event, from the daemon to a client.
    case event(EventMessage)
    /// A client adds or removes listeners to events.
    case listening(ListeningMessage)
}

/// A change of a client's listeners. Each listener receives the events of one name, under the id of the message that
/// added it.
public enum ListeningMessage {
    /// Adds a listener.
    case add(CallbackID, event: UnsafeRawBufferPointer)
    /// Removes a listener; there is no answer.
    case remove(CallbackID)
    /// Removes all listeners whose events begin with these bytes.
    case removeAll(beginning: UnsafeRawBufferPointer, id: CallbackID?)
}

/// A call: the task and its options, and the address of the answer.
public struct CallMessage {
    /// The task's name, unescaped.
    public var task: UnsafeRawBufferPointer
    /// The options as they were received: any JSON. Absent options are `{}`.
    public var options: UnsafeRawBufferPointer
    /// The id of the callback; nil if no callback is requested.
    public var callbackID: CallbackID?
    /// The time that the caller waits, in milliseconds; 0 if unspecified. A plain number, as below, because it is
    /// passed on with every call.
    public var timeoutMilliseconds: UInt64 = 0
    /// The session that must have registered the task; ``anySession`` if unspecified.
    public var sessionNumber = Self.anySession
    /// The caller as JSON. Only the daemon writes it, for the tasks that a client provides. Empty if unspecified.
    public var caller = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Whether the caller requests intermediate callbacks.
    public var wantsProgress = false
    /// Whether the options are an array whose elements get their names from the task's schema, in its order.
    public var hasPositionalOptions = false
    /// The dialect of the call, which is also the dialect of its callback.
    public var dialect = DialectID.native

    /// Represents no session in ``sessionNumber``. No session has this number.
    public static var anySession: UInt64 { .max }

    /// The session that must have registered the task; nil if unspecified.
    public var session: UInt64? { sessionNumber == Self.anySession ? nil : sessionNumber }

    /// The time that the caller waits; nil if unspecified.
    public var timeout: Duration? {
        timeoutMilliseconds == 0 ? nil : .milliseconds(Int64(clamping: timeoutMilliseconds))
    }
}

/// The end of a call. A valid one has either a result or an error; see ``isValid``.
public struct CallbackMessage {
    /// The call's id.
    public var callbackID: CallbackID
    /// The result, any JSON; nil if there is none.
    public var result: UnsafeRawBufferPointer?
    /// The error object, unchecked JSON of any type; nil if there is none.
    public var error: UnsafeRawBufferPointer?

    /// Whether there is exactly one of result and error.
    public var isValid: Bool { (result == nil) != (error == nil) }
}

/// An intermediate result.
public struct ProgressMessage {
    /// The call's id.
    public var callbackID: CallbackID
    /// The value, any JSON.
    public var value: UnsafeRawBufferPointer
    /// Its number, counted from 0 by the sender.
    public var sequence: UInt64
}

/// An event.
public struct EventMessage {
    /// The event's name, unescaped.
    public var name: UnsafeRawBufferPointer
    /// Its data, any JSON; absent data is `null`.
    public var data: UnsafeRawBufferPointer
    /// Whether later subscribers also receive it.
    public var isRetained = false
}

/// The fault of a line, or of an item of a batch, and the id of its message.
public struct MessageProblem {
    /// The error `message.invalid` or `message.too_large`, explained for the author of the line.
    public var error: BridgeError
    /// The id of the invalid message; nil if none could be read.
    public var callbackID: CallbackID?
    /// The dialect that the message seems to have; nil if unknown.
    public var dialect: DialectID?
    /// Whether the line is not JSON.
    public var isNotJSON = false
    /// Whether it may be JSON-RPC. Relevant only if the client has not used another dialect.
    public var mayBeRPC = false
    /// Whether it is a header line, of which a message may have several.
    public var isHeader = false
    /// Whether it should have ended a call of the daemon: it has a result or an error, but no task.
    public var isReply = false

    /// Creates a problem.
    public init(
        error: BridgeError, callbackID: CallbackID?, dialect: DialectID? = nil, isNotJSON: Bool = false,
        isReply: Bool = false
    ) {
        self.error = error
        self.callbackID = callbackID
        self.dialect = dialect
        self.isNotJSON = isNotJSON
        self.isReply = isReply
    }
}
