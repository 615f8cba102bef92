public import BridgeJSON

/// The tasks that the daemon itself provides. Each is a function of the call and its options. It answers at once, or
/// returns nil and answers later, by the call's handle.
final class BridgeTasks: TaskProvider {
    typealias Handler = (Call, UnsafeRawBufferPointer) throws(BridgeError) -> JSON?

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
            guard let result = try handlers[task.index](call, options) else { return }
            result.bytes.withUnsafeBytes { runtime.end(call, .result($0)) }
        } catch {
            runtime.end(call, .failure(error))
        }
    }

    /// Nothing goes on behind a call that answers at once, and what goes on behind another has begun.
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
        let tasks =
            greetingTasks + providingTasks + eventTasks + callTasks + statusTasks + monitorTasks + configurationTasks
            + sessionControlTasks
        let provider = BridgeTasks(runtime: self, handlers: tasks.map(\.run))
        for (index, task) in tasks.enumerated() {
            registry.insert(
                TaskEntry(
                    TaskDescription(name: task.name, summary: task.summary), index: index, provider: provider,
                    isInternal: task.isInternal))
        }
    }

    /// Answers a call of a task that had nothing to answer yet. One that has ended meanwhile is passed over.
    public func answer(_ handle: CallHandle, _ result: Result<JSON, BridgeError>) {
        guard let call = calls.call(handle) else { return }
        switch result {
        case .success(let value): value.bytes.withUnsafeBytes { end(call, .result($0)) }
        case .failure(let error): end(call, .failure(error))
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
