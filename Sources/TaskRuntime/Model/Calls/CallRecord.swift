import BridgeJSON
import BridgeMessage

/// A call's slot in the call table. What every call has stands here; what few calls have, in ``CallExtras``: a call
/// that a session makes of a plugin's task allocates nothing.
///
/// Session and task are not retained. A session's calls end before the session is forgotten, calls on its behalf with
/// the call that they were made for; and the registry keeps a task that was taken out until its calls have ended.
struct CallRecord: ~Copyable {
    var handle: CallHandle
    var state = CallState.free
    var origin = CallOrigin.daemon
    var wantsProgress = false
    /// The dialect that the call came in, and that its callback goes out in.
    var dialect = DialectID.native
    /// The dialect in which the session that does the work got the call.
    var providerDialect = DialectID.native
    /// Whether the session's index of ids knows this call.
    var isIndexed = false
    /// The id's hash, while the index knows the call.
    var indexHash: UInt64 = 0
    /// Whether its deadline counts: ``DeadlineHeap`` has an entry of it.
    var hasDeadlineEntry = false
    /// The next one in the table's stock of unused ones, by its slot; -1: none.
    var nextFree = -1
    /// Its index in the table's order of calls in flight.
    var orderIndex = -1
    var number: UInt64 = 0
    /// Not retained: the registry keeps a task that was taken out until its calls have ended.
    var task: Unmanaged<TaskEntry>?
    /// Not retained: its calls end before it is forgotten, and what was forgotten is kept to the end of the turn.
    var session: Unmanaged<Session>?
    var startedAt = RuntimeInstant(nanoseconds: 0)
    var deadline = RuntimeInstant.never
    var nextSequence: UInt64 = 0
    /// What is held for it and counted: ``CallEngine/hold(_:for:)``.
    var heldBytes = 0
    /// The id under which the session that does the work knows the call; 0: no client does.
    var providerID: UInt64 = 0
    /// That session. Not retained: it leaves its calls before it is forgotten.
    var provider: Unmanaged<Session>?
    /// Its position among the calls of its session, and among those that a session works on.
    var madeLinks = CallLinks()
    var providedLinks = CallLinks()
    var id = OwnedCallbackID()
    var extras: CallExtras?

    init(slot: Int, generation: UInt32) { handle = CallHandle(slot: slot, generation: generation) }
}

/// What a call consists of when it begins.
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

/// The rarer parts of a call; see the properties of ``Call`` of the same names.
final class CallExtras {
    var target: Session?
    /// The session whose description has named the parameters of a client's task, and that task's number.
    var namer: Session?
    var namedTask: UInt64 = 0
    var batch: RPCBatch?
    var pluginName: String?
    /// The plugin that made it.
    var maker: (any QueueingProvider)?
    /// The plugin's process that made it, or the plugin where it is in the daemon's.
    var holder: StreamHolder?
    var parent: CallHandle?
    /// The root call's number; 0: the call's own.
    var rootNumber: UInt64 = 0
    /// Streams that were made for it, and end with it where it fails.
    var streams: [StreamName] = []
    /// The stream that it waits for; nil: it waits for none.
    var waitsForStream: StreamName?
    /// The descriptor that goes with its result.
    var passed: PassedDescriptor?
    /// Gets that, where a plugin's process made the call with an id; nil: it cannot.
    var descriptorReceiver: (any DescriptorReceiver)?
    /// Where it takes what it gets of a stream; nil: as JSON text.
    var streamReply: StreamReply?
    var children: [CallHandle] = []
    var completion: ((CallOutcome) -> Void)?
    var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)?
    var heldProgress: (sequence: UInt64, value: [UInt8])?
    /// Options that wait for their turn, where the task's maximum of parallel calls was reached.
    var heldOptions: [UInt8] = []
    /// Whether these have not been held against what the task takes: it took another one's place meanwhile.
    var isUnchecked = false
    /// The plugin for which the call waits.
    var waitsIn: (any QueueingProvider)?
    /// What it waits for, where it may begin next; nil: for other calls, or an interceptor.
    var waitsFor: WaitReason?
    /// Its position among the calls that wait: for the plugin, of its session, and for the same.
    var waitingLinks = CallLinks()
    var lineLinks = CallLinks()
    var candidateLinks = CallLinks()
    /// Set while work is done for it in the lane.
    var laneMark: LaneMark?
    /// What its options have just been found to fit, for the next who asks.
    var fitting: SchemaCheck?
    /// The way through interceptors; nil: none was asked.
    var interception: InterceptionState?
    var ancestry: [Interceptor] = []
}

/// What a call waits for that may begin next in its plugin.
enum WaitReason {
    /// Its turn to be looked at.
    case turn
    /// The end of another call of its task.
    case task
    /// A process.
    case process
    /// Its caller's process has to read on.
    case reader
}
