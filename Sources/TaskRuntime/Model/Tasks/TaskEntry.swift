import BridgeJSON

/// A task as shown in lists: text that is valid until the task's interceptors change. Only for tasks whose schemas are
/// final; `nil` if the text must be built again.
struct ShownTask {
    var description: [UInt8]?
    var method: [UInt8]?
}

/// What happens to a task's waiting calls when another plugin replaces its own.
enum TaskSuccession {
    /// They become calls of this task.
    case task(TaskEntry)
    /// They end with this error.
    case none(BridgeError)
}

/// What one of the daemon's tasks does with a stream. Such calls are limited by the stream, not by quotas of calls, and
/// continue while the daemon stops.
enum StreamTask {
    /// It begins or ends a stream.
    case edge
    /// It moves bytes: never shown to sessions that watch the traffic.
    case bytes
}

/// A task that can be called: its description, its provider, and its statistics.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class TaskEntry {
    let description: TaskDescription
    /// The task's number, unique among all tasks since the start; 0 if it cannot be called by name.
    @exclusivity(unchecked) var number: UInt64 = 0
    /// The index among its provider's tasks.
    let index: Int
    let provider: any TaskProvider
    /// The provider's identity, for comparing without accessing the provider.
    let providerID: ObjectIdentifier
    /// Whether only plugins and the daemon itself may call it.
    let isInternal: Bool
    /// Whether questions to an interceptor are counted under it. Such questions wait for a plugin's process as calls
    /// do, but are not ordered with them.
    let isInterceptor: Bool
    /// What it does with a stream; `nil` for nothing.
    let stream: StreamTask?
    /// The maximum number of parallel calls; `Int.max` for no limit.
    let maximumRunning: Int
    /// The timeout of a call that specifies none; `nil` for the daemon's standard timeout, `UInt64.max` for no limit.
    let timeoutNanoseconds: UInt64?
    /// The maximum length of options.
    let optionBytes: Int
    static var usualOptionBytes: Int { TaskDescription.usualOptionBytes }
    /// The check for options before the task is called; `nil` for none.
    let optionsCheck: OptionsCheck?
    /// The interceptors that are asked before a call reaches the provider, in this order; `nil` if there are none.
    @exclusivity(unchecked) var interceptors: [Interceptor]? { didSet { shown = ShownTask() } }
    /// The cached text that `bridge.describe` and `rpc.discover` show for it.
    var shown = ShownTask()
    /// What happens to its waiting calls; `nil` if no plugin has replaced its own.
    var succession: TaskSuccession?
    /// The meters that count its calls; `nil` if the calls have no quota.
    var meters: TaskMeters? { didSet { isMetered = meters != nil } }
    @exclusivity(unchecked) private(set) var isMetered = false
    @exclusivity(unchecked) var statistics = TaskStatistics()
    /// The number of calls whose work has begun and not ended. Calls that have been answered early still count until
    /// their work ends.
    @exclusivity(unchecked) var runningCount = 0
    /// The calls that wait for a running call of the task to end.
    @exclusivity(unchecked) var blocked = CallList(.candidate)
    /// Whether the plugin's queue has recorded that there is room for some of them.
    var isRoomy = false

    /// The bytes of the name, compared with the name in every call.
    let nameBytes: UnsafeRawBufferPointer

    /// The name as it is written in a message.
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

    /// Returns both forms of the name, in one block of memory that begins where the second form does.
    private static func names(_ name: String) -> (bytes: UnsafeRawBufferPointer, quoted: UnsafeRawBufferPointer) {
        let count = name.utf8.count
        guard PublicName.isAllowed(name) else {
            let quoted = JSON.string(name).bytes
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: quoted.count + count, alignment: 8)
            memory.copyBytes(from: quoted)
            UnsafeMutableRawBufferPointer(rebasing: memory[quoted.count...]).copyBytes(from: name.utf8)
            return split(memory, quoted: 0..<quoted.count, bytes: quoted.count..<memory.count)
        }
        // No character of a public name is escaped.
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
