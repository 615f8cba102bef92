// BridgeMessage: the messages of the bridge. Bytes in, values out, any byte split, no I/O.
//
//   Wire/      lines out of bytes, members out of a line: framing and grammar, without meaning
//   Messages/  what a line means: call, callback, progress, cancel, event
//   Dialects/  the forms in which they are written; a file for each
//   Encoding/  messages into an output buffer
//
// A decoded message borrows the bytes of its line and is good until the handler of that line returns; who wants to
// keep a part of it copies that part. Nothing here allocates for a good message.

public import BridgeJSON

/// One message that is no call, as a line of the native dialect carries it. Borrows the line's bytes.
public enum BridgeMessage {
    /// The end of a call that this side made.
    case callback(CallbackMessage)
    /// An intermediate result of a call that this side made.
    case progress(ProgressMessage)
    /// The other side wants one of its calls ended.
    case cancel(CallbackID)
    /// An event, from the daemon to a client.
    case event(EventMessage)
    /// Listeners to events begin or end.
    case listening(ListeningMessage)
}

/// What a client says of listeners: each gets the events of one name, under the id of the message that began it.
public enum ListeningMessage {
    /// A listener begins.
    case add(CallbackID, event: UnsafeRawBufferPointer)
    /// A listener ends; nothing answers that.
    case remove(CallbackID)
    /// All listeners end whose events begin with these bytes.
    case removeAll(beginning: UnsafeRawBufferPointer, id: CallbackID?)
}

/// A call: what to do, and how to answer.
public struct CallMessage {
    /// The task's name, unescaped.
    public var task: UnsafeRawBufferPointer
    /// The options as they came: any JSON. Absent options are `{}`.
    public var options: UnsafeRawBufferPointer
    /// The id that the callback bears; nil: no callback is wanted.
    public var callbackID: CallbackID?
    /// How long the caller waits, in milliseconds; 0: it does not say. Plain numbers, here and below, because this is
    /// handed on with every call.
    public var timeoutMilliseconds: UInt64 = 0
    /// Only a task that this session registered; ``anySession``: it does not say.
    public var sessionNumber = Self.anySession
    /// Who calls, as JSON: written by the daemon alone, for the tasks that a client provides. Empty: nothing was said.
    public var caller = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Whether the caller wants intermediate callbacks.
    public var wantsProgress = false
    /// Whether the options are an array whose elements are to be named in the order of the task's schema.
    public var hasPositionalOptions = false
    /// The dialect that it came in, and that its callback is to be in.
    public var dialect = DialectID.native

    /// What stands for no session in ``sessionNumber``. No session is ever so numbered.
    public static var anySession: UInt64 { .max }

    /// Only a task that this session registered.
    public var session: UInt64? { sessionNumber == Self.anySession ? nil : sessionNumber }

    /// How long the caller waits.
    public var timeout: Duration? {
        timeoutMilliseconds == 0 ? nil : .milliseconds(Int64(clamping: timeoutMilliseconds))
    }
}

/// The end of a call. A correct one bears either a result or an error; see ``isValid``.
public struct CallbackMessage {
    /// The call's id.
    public var callbackID: CallbackID
    /// The result, any JSON.
    public var result: UnsafeRawBufferPointer?
    /// The error object, unchecked JSON of any type.
    public var error: UnsafeRawBufferPointer?

    /// Whether exactly one of result and error is there.
    public var isValid: Bool { (result == nil) != (error == nil) }
}

/// An intermediate result.
public struct ProgressMessage {
    /// The call's id.
    public var callbackID: CallbackID
    /// The value, any JSON.
    public var value: UnsafeRawBufferPointer
    /// Its number, from 0, as the sender counted.
    public var sequence: UInt64
}

/// An event.
public struct EventMessage {
    /// The event's name, unescaped.
    public var name: UnsafeRawBufferPointer
    /// Its data, any JSON; absent data are `null`.
    public var data: UnsafeRawBufferPointer
    /// Whether later subscribers get it as well.
    public var isRetained = false
}

/// What is wrong with a line, or with an item of a batch, and whose it was.
public struct MessageProblem {
    /// `message.invalid` or `message.too_large`, in words for the person who wrote the line.
    public var error: BridgeError
    /// The id that the bad message bore, where one could be read.
    public var callbackID: CallbackID?
    /// The dialect that it seems to be of; nil: nothing shows it.
    public var dialect: DialectID?
    /// Whether it is not even JSON.
    public var isNotJSON = false
    /// Whether it may be JSON-RPC, for what else there is: the client has spoken nothing yet.
    public var mayBeRPC = false
    /// Whether it is a header, of which a message may have several.
    public var isHeader = false
    /// Whether it was to be the end of a call of the daemon's: it bears a result or an error, and names no task.
    public var isReply = false

    /// A problem.
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
