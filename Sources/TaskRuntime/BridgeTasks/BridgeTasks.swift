import BridgeJSON

/// The tasks that the daemon itself provides. Each is a function of the call and its options; it answers at once.
final class BridgeTasks: TaskProvider {
    typealias Handler = (Call, UnsafeRawBufferPointer) throws(BridgeError) -> JSON

    struct Task {
        var name: String
        var summary: String
        /// Only plugins and the daemon itself may call it.
        var isInternal = false
        var run: Handler
    }

    /// Unsafe in form only: the runtime owns this, and a counted reference would cost time with every call.
    private unowned(unsafe) let runtime: TaskRuntime
    private let handlers: [Handler]

    init(runtime: TaskRuntime, handlers: [Handler]) {
        self.runtime = runtime
        self.handlers = handlers
    }

    var providerName: String { "the daemon" }

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        call.state = .running
        do throws(BridgeError) {
            let result = try handlers[task.index](call, options)
            result.bytes.withUnsafeBytes { runtime.end(call, .result($0)) }
        } catch {
            runtime.end(call, .failure(error))
        }
    }

    /// Nothing goes on behind a call that answers at once.
    func abandon(_ call: Call, reason: CancelReason) {}

    /// Reads the options of a task into its type.
    static func options<Options: Decodable>(_ type: Options.Type, _ bytes: UnsafeRawBufferPointer)
        throws(BridgeError) -> Options
    {
        do throws(JSONMismatch) {
            return try JSONCoding.decode(type, from: bytes)
        } catch {
            throw BridgeError(error)
        }
    }
}

extension TaskRuntime {
    func addBridgeTasks() {
        let tasks = greetingTasks + providingTasks + eventTasks + callTasks + statusTasks + sessionControlTasks
        let provider = BridgeTasks(runtime: self, handlers: tasks.map(\.run))
        for (index, task) in tasks.enumerated() {
            registry.insert(
                TaskEntry(
                    TaskDescription(name: task.name, summary: task.summary), index: index, provider: provider,
                    isInternal: task.isInternal))
        }
    }

    /// The session whose call this is.
    ///
    /// - Throws: where a plugin calls in its own name.
    func callingSession(_ call: Call) throws(BridgeError) -> Session {
        guard let session = call.session else {
            throw BridgeError(.sessionNotFound, "\(call.task?.name ?? "the task") works on the caller's session")
        }
        return session
    }
}
