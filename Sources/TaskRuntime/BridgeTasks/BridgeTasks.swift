public import BridgeJSON

/// The tasks that the daemon itself provides. Each is a function of the call and its options. It answers at once, or
/// returns nil and answers later, by the call's handle.
final class BridgeTasks: TaskProvider {
    struct Task {
        let name: String
        let summary: String
        /// Only plugins and the daemon itself may call it.
        let isInternal: Bool
        /// Whether members of the group that the daemon is there for may call it where no rule says anything.
        let isOpen: Bool
        /// The type of its options; nil: it looks at none.
        let options: (any Decodable.Type)?
        let run: (Call, UnsafeRawBufferPointer) throws(BridgeError) -> JSON?

        init<Options: Decodable>(
            _ name: String, _ summary: String, _ options: Options.Type, isInternal: Bool = false, isOpen: Bool = false,
            run: @escaping (Call, Options) throws(BridgeError) -> JSON?
        ) {
            self.name = name
            self.summary = summary
            self.isInternal = isInternal
            self.isOpen = isOpen
            self.options = options
            self.run = { call, bytes throws(BridgeError) in
                let options: Options
                do throws(JSONMismatch) {
                    options = try JSONCoding.decode(Options.self, from: bytes)
                } catch {
                    throw BridgeError(error)
                }
                return try run(call, options)
            }
        }

        /// A task that looks at no options.
        init(
            _ name: String, _ summary: String, isOpen: Bool = false, run: @escaping (Call) throws(BridgeError) -> JSON?
        ) {
            self.name = name
            self.summary = summary
            isInternal = false
            self.isOpen = isOpen
            options = nil
            self.run = { call, _ throws(BridgeError) in try run(call) }
        }
    }

    /// Unsafe in form only: the runtime owns this, and a counted reference would cost time with every call.
    private unowned(unsafe) let runtime: TaskRuntime
    private let tasks: [Task]

    init(runtime: TaskRuntime, tasks: [Task]) {
        self.runtime = runtime
        self.tasks = tasks
    }

    var providerName: String { "the daemon" }

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        call.state = .running
        do throws(BridgeError) {
            guard let result = try tasks[task.index].run(call, options) else { return }
            result.bytes.withUnsafeBytes { runtime.end(call, .result($0)) }
        } catch {
            runtime.end(call, .failure(error))
        }
    }

    /// Nothing goes on behind a call that answers at once, and what goes on behind another has begun.
    func abandon(_ call: Call, reason: CancelReason) {}

    func describe(_ task: TaskEntry, _ done: @escaping (TaskSchemas) -> Void) {
        // `try?`: a test derives all of them.
        let schema = tasks[task.index].options.map { try? JSONSchema.derive(from: $0) } ?? ["type": "object"]
        done(TaskSchemas(options: schema))
    }
}

extension TaskRuntime {
    func addBridgeTasks() {
        let tasks =
            greetingTasks + describingTasks + providingTasks + eventTasks + callTasks + statusTasks + monitorTasks
            + configurationTasks + pluginTasks + sessionControlTasks + explainTasks
        let provider = BridgeTasks(runtime: self, tasks: tasks)
        for (index, task) in tasks.enumerated() {
            registry.insert(
                TaskEntry(
                    TaskDescription(name: task.name, summary: task.summary, isOpen: task.isOpen), index: index,
                    provider: provider,
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
