import BridgeJSON
import BridgeMessage

/// A call's slot in the call table. It holds the properties that every call has; ``CallExtras`` holds those that few
/// calls have. A session's call of a plugin's task therefore allocates nothing.
///
/// Session and task are not retained. A session's calls end before the session is released, and calls on its behalf end
/// with the call that they were made for. The registry keeps a removed task until its calls have ended.
struct CallRecord: ~Copyable {
    var handle: CallHandle
    var state = CallState.free
    var origin = CallOrigin.daemon
    var wantsProgress = false
    /// The dialect in which the call was received and its callback is sent.
    var dialect = DialectID.native
    /// The dialect in which the call was sent to the session that does the work.
    var providerDialect = DialectID.native
    /// Whether the call is in the session's index of ids.
    var isIndexed = false
    /// The id's hash while the call is in the index.
    var indexHash: UInt64 = 0
    /// Whether the call's deadline is active: ``DeadlineHeap`` has an entry for it.
    var hasDeadlineEntry = false
    /// The slot of the next unused record in the table's pool; -1 if there is none.
    var nextFree = -1
    /// The index in the table's order of calls in flight.
    var orderIndex = -1
    var number: UInt64 = 0
    /// Not retained: the registry keeps a removed task until its calls have ended.
    var task: Unmanaged<TaskEntry>?
    /// Not retained: a session's calls end before the session is removed, and a removed session is kept until the end
    /// of the turn.
    var session: Unmanaged<Session>?
    var startedAt = RuntimeInstant(nanoseconds: 0)
    var deadline = RuntimeInstant.never
    var nextSequence: UInt64 = 0
    /// The bytes that are held and counted for the call: ``CallEngine/hold(_:for:)``.
    var heldBytes = 0
    /// The call's id for the session that does the work; 0 if no client does the work.
    var providerID: UInt64 = 0
    /// The session that does the work. Not retained: its calls are taken from it before it is released.
    var provider: Unmanaged<Session>?
    /// The links in the list of the calls of its session, and in the list of the calls that a session works on.
    var madeLinks = CallLinks()
    var providedLinks = CallLinks()
    var id = OwnedCallbackID()
    var extras: CallExtras?

    init(slot: Int, generation: UInt32) { handle = CallHandle(slot: slot, generation: generation) }
}

/// The properties of a call when it begins.
struct CallRequest {
    var origin: CallOrigin
    // Neither is retained, as in the call's record.
    var task: Unmanaged<TaskEntry>
    var session: Unmanaged<Session>?
    var wantsProgress = false
    var dialect = DialectID.native
    var startedAt: RuntimeInstant
    var deadline: RuntimeInstant
}

/// The rare properties of a call; see the properties of ``Call`` with the same names.
final class CallExtras {
    var target: Session?
    /// The session whose description named the parameters for a client's task, and that task's number.
    var namer: Session?
    var namedTask: UInt64 = 0
    var batch: RPCBatch?
    var pluginName: String?
    /// The plugin that made the call.
    var maker: (any QueueingProvider)?
    /// The plugin process that made the call, or the plugin if it runs in the daemon's process.
    var holder: StreamHolder?
    var parent: CallHandle?
    /// The root call's number; 0 if the call is its own root.
    var rootNumber: UInt64 = 0
    /// The streams that were made for the call; they end if the call fails.
    var streams: [StreamName] = []
    /// The stream that the call waits for; `nil` if it waits for none.
    var waitsForStream: StreamName?
    /// The descriptor that is sent with the result.
    var passed: PassedDescriptor?
    /// The receiver of that descriptor if a plugin process made the call with an id; `nil` if it cannot receive one.
    var descriptorReceiver: (any DescriptorReceiver)?
    /// The place for a stream result that is passed as a value; `nil` if it is passed as JSON text.
    var streamReply: StreamReply?
    var children: [CallHandle] = []
    var completion: ((CallOutcome) -> Void)?
    var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)?
    var heldProgress: (sequence: UInt64, value: [UInt8])?
    /// The options that wait for their turn, for example because the task's maximum of parallel calls was reached.
    var heldOptions: [UInt8] = []
    /// Whether the options still have to be checked against the task: it replaced another one while the call waited.
    var isUnchecked = false
    /// The plugin in whose queue the call waits.
    var waitsIn: (any QueueingProvider)?
    /// What the call waits for if it may begin next; `nil` if it waits for other calls or an interceptor.
    var waitsFor: WaitReason?
    /// The links in the lists of the calls that wait: for the plugin, of its session, and for the same thing.
    var waitingLinks = CallLinks()
    var lineLinks = CallLinks()
    var candidateLinks = CallLinks()
    /// Set while the lane works for the call.
    var laneMark: LaneMark?
    /// The schema that the options were just found to match, for the next check.
    var fitting: SchemaCheck?
    /// The call's progress through interceptors; `nil` if none was asked.
    var interception: InterceptionState?
    var ancestry: [Interceptor] = []
}

/// What a call that may begin next in its plugin waits for.
enum WaitReason {
    /// Its turn to be examined.
    case turn
    /// The end of another call of its task.
    case task
    /// A process.
    case process
    /// The caller's process has to read more of its input.
    case reader
}
