import BridgeJSON

/// A task as lists show it: text that holds until the task's interceptors change. Only of tasks whose schemas are known
/// for good; nil: it is to be made again.
struct ShownTask {
    var description: [UInt8]?
    var method: [UInt8]?
}

/// What becomes of a task's calls that have not begun, once another plugin has taken the place of its own.
enum TaskSuccession {
    /// They are this one's.
    case task(TaskEntry)
    /// They end with this error.
    case none(BridgeError)
}

/// What a task of the daemon's does with a stream. Such calls are bounded by the stream, not by quotas of calls, and go
/// on while the daemon stops.
enum StreamTask {
    /// It begins or ends one.
    case edge
    /// It moves bytes: never shown to those who watch.
    case bytes
}

/// A task that can be called: its description, who does the work, and what happened so far.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class TaskEntry {
    let description: TaskDescription
    /// Its number among all tasks that there ever were; 0: it cannot be called by its name.
    @exclusivity(unchecked) var number: UInt64 = 0
    /// Its index among its provider's tasks.
    let index: Int
    let provider: any TaskProvider
    /// Who the provider is, for comparing without touching it.
    let providerID: ObjectIdentifier
    /// Only plugins and the daemon itself may call it.
    let isInternal: Bool
    /// Questions to an interceptor are counted under it: it waits for a plugin's process as calls do, and keeps no
    /// order with them.
    let isInterceptor: Bool
    /// What it does with a stream; nil: nothing.
    let stream: StreamTask?
    /// How many of its calls may run in parallel; `Int.max`: any number.
    let maximumRunning: Int
    /// How long a call may take that does not say: nil, as long as the daemon allows any; `UInt64.max`, for ever.
    let timeoutNanoseconds: UInt64?
    /// How long options may be.
    let optionBytes: Int
    static var usualOptionBytes: Int { TaskDescription.usualOptionBytes }
    /// What options are checked against before the task is called; nil: nothing.
    let optionsCheck: OptionsCheck?
    /// Who is asked before a call goes to the provider, in this order; nil: no one.
    @exclusivity(unchecked) var interceptors: [Interceptor]? { didSet { shown = ShownTask() } }
    /// What `bridge.describe` and `rpc.discover` show of it, once they have.
    var shown = ShownTask()
    /// What becomes of its calls that have not begun; nil: they are its own.
    var succession: TaskSuccession?
    /// What its calls are counted by; nil: they have no quota.
    var meters: TaskMeters? { didSet { isMetered = meters != nil } }
    @exclusivity(unchecked) private(set) var isMetered = false
    @exclusivity(unchecked) var statistics = TaskStatistics()
    /// Of the calls in flight, those whose work has begun and not ended; where the caller has been answered already,
    /// they still count.
    @exclusivity(unchecked) var runningCount = 0
    /// Calls that wait for one of these to end.
    @exclusivity(unchecked) var blocked = CallList(.candidate)
    /// Whether the plugin knows that there is room for some of them.
    var isRoomy = false

    /// The name's bytes, compared with those of every call.
    let nameBytes: UnsafeRawBufferPointer

    /// The name as it stands in a message.
    let quotedName: UnsafeRawBufferPointer

    var name: String { description.name }

    init(
        _ description: TaskDescription, index: Int, provider: any TaskProvider, isInternal: Bool = false,
        isInterceptor: Bool = false, stream: StreamTask? = nil
    ) {
        self.description = description
        self.index = index
        self.provider = provider
        providerID = ObjectIdentifier(provider)
        self.isInternal = isInternal
        self.isInterceptor = isInterceptor
        self.stream = stream
        optionsCheck = OptionsCheck(description)
        optionBytes = description.optionBytes
        maximumRunning = description.concurrency ?? .max
        timeoutNanoseconds =
            switch description.deadline {
            case .standard: nil
            case .after(let duration): duration.wholeNanoseconds
            case .none: .max
            }
        (nameBytes, quotedName) = Self.names(description.name)
    }

    /// Both forms of the name, in one piece of memory that begins where the second does.
    private static func names(_ name: String) -> (bytes: UnsafeRawBufferPointer, quoted: UnsafeRawBufferPointer) {
        let count = name.utf8.count
        guard PublicName.isAllowed(name) else {
            let quoted = JSON.string(name).bytes
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: quoted.count + count, alignment: 8)
            memory.copyBytes(from: quoted)
            UnsafeMutableRawBufferPointer(rebasing: memory[quoted.count...]).copyBytes(from: name.utf8)
            return split(memory, quoted: 0..<quoted.count, bytes: quoted.count..<memory.count)
        }
        // No character of such a name is escaped.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count + 2, alignment: 8)
        memory[0] = UInt8(ascii: "\"")
        UnsafeMutableRawBufferPointer(rebasing: memory[1...]).copyBytes(from: name.utf8)
        memory[count + 1] = UInt8(ascii: "\"")
        return split(memory, quoted: 0..<memory.count, bytes: 1..<count + 1)
    }

    private static func split(
        _ memory: UnsafeMutableRawBufferPointer, quoted: Range<Int>, bytes: Range<Int>
    ) -> (bytes: UnsafeRawBufferPointer, quoted: UnsafeRawBufferPointer) {
        let memory = UnsafeRawBufferPointer(memory)
        return (UnsafeRawBufferPointer(rebasing: memory[bytes]), UnsafeRawBufferPointer(rebasing: memory[quoted]))
    }

    deinit {
        quotedName.deallocate()
        statistics.latency?.free()
    }
}
