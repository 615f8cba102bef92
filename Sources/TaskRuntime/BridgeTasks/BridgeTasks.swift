import BridgeJSON

/// The tasks that the daemon itself provides. Each is a function of the call and its options. It answers immediately,
/// or returns nil and answers later, by the call's handle.
final class BridgeTasks: TaskProvider {
    struct Task {
        let name: String
        let summary: String
        /// Whether only plugins and the daemon itself may call it.
        let isInternal: Bool
        /// Whether members of the group `trestle` may call it if no rule applies.
        let isPublic: Bool
        /// The type of its options; `nil` if it ignores options.
        let options: (any Decodable.Type)?
        /// The maximum length of its options; `nil` for the length of a message.
        let optionBytes: Int?
        /// Whether its answer may be long. A caller without room for it is refused before the answer is made.
        var needsRoom = false
        /// Its operation on a stream; `nil` if it uses no stream.
        var stream: StreamTask?
        /// Answers with JSON text.
        let run: (Call, UnsafeRawBufferPointer) throws(BridgeError) -> [UInt8]?
        /// The permission that callers need: a task that is neither public nor internal administers the daemon; `nil`
        /// for the task's name.
        var permission: String? { isPublic || isInternal ? nil : Policy.administration }

        init<Options: Decodable>(
            _ name: String, _ summary: String, _ options: Options.Type, isInternal: Bool = false,
            isPublic: Bool = false,
            run: @escaping (Call, Options) throws(BridgeError) -> JSON?
        ) {
            self.name = name
            self.summary = summary
            self.isInternal = isInternal
            self.isPublic = isPublic
            self.options = options
            optionBytes = TaskEntry.usualOptionBytes
            self.run = { call, bytes throws(BridgeError) in try run(call, Self.decode(options, bytes))?.bytes }
        }

        /// A task that answers with text.
        ///
        /// - Parameter takesAny: Whether options that are no object count as no options: earlier versions of the task
        ///   ignored its options.
        init<Options: Decodable>(
            answeringText name: String, _ summary: String, _ options: Options.Type, isPublic: Bool = false,
            takesAny: Bool = false, run: @escaping (Call, Options) throws(BridgeError) -> [UInt8]?
        ) {
            self.name = name
            self.summary = summary
            isInternal = false
            self.isPublic = isPublic
            self.options = options
            optionBytes = TaskEntry.usualOptionBytes
            self.run = { call, bytes throws(BridgeError) in
                let isNone = takesAny && bytes.first != UInt8(ascii: "{")
                return try run(call, isNone ? Self.decodeNone(options) : Self.decode(options, bytes))
            }
        }

        /// A task that answers a page of a table.
        init(
            table name: String, _ summary: String, isPublic: Bool = false,
            run: @escaping (Call, PageRequest) throws(BridgeError) -> [UInt8]?
        ) {
            self.init(answeringText: name, summary, PageRequest.self, isPublic: isPublic, takesAny: true, run: run)
            needsRoom = true
        }

        /// Returns the same task, marked as one with a long answer.
        func answeringAtLength() -> Task {
            var task = self
            task.needsRoom = true
            return task
        }

        private static func decodeNone<Options: Decodable>(_ type: Options.Type) throws(BridgeError) -> Options {
            let result = Array("{}".utf8).withUnsafeBytes { none in
                Result { () throws(BridgeError) in try decode(type, none) }
            }
            return try result.get()
        }

        static func decode<Options: Decodable>(
            _ type: Options.Type, _ bytes: UnsafeRawBufferPointer
        ) throws(BridgeError) -> Options {
            do throws(JSONMismatch) {
                return try JSONCoding.decode(type, from: bytes)
            } catch {
                throw BridgeError(error)
            }
        }

        /// A task that reads its options itself, because they may be long.
        ///
        /// - Parameter optionBytes: The maximum length of its options; `nil` for the length of a message.
        init<Options: Decodable>(
            _ name: String, _ summary: String, text options: Options.Type, optionBytes: Int? = nil,
            isPublic: Bool = false, run: @escaping (Call, UnsafeRawBufferPointer) throws(BridgeError) -> JSON?
        ) {
            self.name = name
            self.summary = summary
            isInternal = false
            self.isPublic = isPublic
            self.options = options
            self.optionBytes = optionBytes
            self.run = { call, bytes throws(BridgeError) in try run(call, bytes)?.bytes }
        }

        /// A public task about streams, without a deadline of its own.
        ///
        /// - Parameter optionBytes: The maximum length of its options; `nil` for the length of a message.
        init<Options: Decodable>(
            stream: StreamTask, _ name: String, _ summary: String, _ options: Options.Type,
            optionBytes: Int? = TaskEntry.usualOptionBytes,
            run: @escaping (Call, UnsafeRawBufferPointer) throws(BridgeError) -> JSON?
        ) {
            self.init(name, summary, text: options, optionBytes: optionBytes, isPublic: true, run: run)
            self.stream = stream
        }

        /// A task that ignores its options.
        init(
            _ name: String, _ summary: String, isPublic: Bool = false,
            run: @escaping (Call) throws(BridgeError) -> JSON?
        ) {
            self.name = name
            self.summary = summary
            isInternal = false
            self.isPublic = isPublic
            options = nil
            optionBytes = nil
            self.run = { call, _ throws(BridgeError) in try run(call)?.bytes }
        }
    }

    /// This `unowned(unsafe)` reference is safe: the runtime owns both objects. A counted reference would cost time
    /// with every call.
    private unowned(unsafe) let calls: CallEngine
    private let tasks: [Task]
    /// Called if a call ends before it was answered.
    var onAbandon: (Call) -> Void = { _ in }
    /// The schemas of the tasks' options; `nil` before they are derived.
    private var schemas: [JSON?]

    init(_ calls: CallEngine, _ tasks: [Task]) {
        self.calls = calls
        self.tasks = tasks
        schemas = tasks.map { _ in nil }
    }

    var providerName: String { "the daemon" }
    var isDaemon: Bool { true }

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        call.state = .running
        if tasks[task.index].needsRoom, let refusal = calls.quotas.longResultRefusal(of: call) {
            return calls.end(call, error: refusal)
        }
        do throws(BridgeError) {
            guard let result = try tasks[task.index].run(call, options) else { return }
            result.withUnsafeBytes { calls.end(call, .result($0)) }
        } catch {
            calls.end(call, .failure(error))
        }
    }

    /// A call that answers immediately has no work left, and work that another call has begun continues. Only calls
    /// about streams wait.
    func abandon(_ call: Call, reason: CancelReason) { onAbandon(call) }

    func describe(_ task: TaskEntry, to caller: Session?, _ done: @escaping (TaskSchemas) -> Void) {
        done(TaskSchemas(options: optionsSchema(of: task.index)))
    }

    func schemaTexts(of task: TaskEntry, for caller: Session?) -> SchemaTexts {
        SchemaTexts(TaskSchemas(options: optionsSchema(of: task.index)))
    }

    private func optionsSchema(of index: Int) -> JSON? {
        if let known = schemas[index] { return known }
        // `try?`: a test derives all of them.
        schemas[index] = tasks[index].options.map { try? JSONSchema.derive(from: $0) } ?? ["type": "object"]
        return schemas[index]
    }
}

extension TaskRuntime {
    func addBridgeTasks() {
        let own =
            greetingTasks + describingTasks + providingTasks + eventTasks + callTasks + statusTasks + monitorTasks
            + configurationTasks + pluginTasks + sessionControlTasks + explainTasks + streamTasks
        let provider = BridgeTasks(calls, own)
        provider.onAbandon = { [unowned self] in streams.abandon($0) }
        for (index, task) in own.enumerated() {
            tasks.insert(
                TaskEntry(
                    TaskDescription(
                        name: task.name, summary: task.summary, permission: task.permission, isPublic: task.isPublic,
                        deadline: task.stream == nil ? .standard : .none, isPrivate: task.stream != nil,
                        optionBytes: task.optionBytes ?? .max),
                    index: index, provider: provider, isInternal: task.isInternal, stream: task.stream))
        }
    }

    /// Returns the session that made the call.
    ///
    /// - Throws: `session.missing` if a plugin calls in its own name.
    func callingSession(_ call: Call) throws(BridgeError) -> Session {
        guard let session = call.session else {
            throw BridgeError(.sessionMissing, "\(call.task?.name ?? "the task") works on the caller's session")
        }
        return session
    }
}
