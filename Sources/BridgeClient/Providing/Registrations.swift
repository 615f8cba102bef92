import BridgeJSON
import EventLoop

/// What is to be known of a task that a client provides. The daemon shows it to who asks (`bridge.describe`), and
/// refuses options that do not fit before the provider hears of the call.
public struct TaskDescription: Sendable {
    /// What the task does, in one line.
    public var summary: String?
    /// The JSON Schema of its options.
    public var options: JSON?
    /// The JSON Schema of its result.
    public var result: JSON?
    /// The JSON Schema of its intermediate results.
    public var progress: JSON?

    /// All of it may be left out. The schemas have at most 64 KiB together.
    public init(summary: String? = nil, options: JSON? = nil, result: JSON? = nil, progress: JSON? = nil) {
        self.summary = summary
        self.options = options
        self.result = result
        self.progress = progress
    }

    fileprivate var json: JSON {
        var object = JSONObject()
        object["summary"] = summary.map(JSON.string)
        object["options"] = options
        object["result"] = result
        object["progress"] = progress
        return .object(object)
    }
}

/// What a daemon is told of one task that this client provides.
struct Registration: Sendable {
    let task: String
    let scope: ProviderScope
    let description: TaskDescription?

    /// - Parameter timeout: nil: as long as the daemon allows.
    func request(timeout: Duration?) -> CallRequest {
        var options: JSONObject = ["tasks": [.string(task)], "scope": .string(scope.rawValue)]
        if let description { options["descriptions"] = .object([task: description.json]) }
        return CallRequest("bridge.register", .object(options), session: nil, timeout: timeout)
    }
}

/// The tasks that a daemon has taken from this client, in the order of their registration: the next daemon is told of
/// them in the same one.
@LoopActor
struct Registrations {
    private var entries: [Registration] = []

    mutating func add(_ registration: Registration) {
        remove(registration.task)
        entries.append(registration)
    }

    mutating func remove(_ task: String) {
        entries.removeAll { $0.task == task }
    }

    var all: [Registration] { entries }

    func contains(_ task: String) -> Bool { entries.contains { $0.task == task } }
}
