import BridgeJSON

// bridge.register, bridge.unregister: clients that provide tasks.
extension TaskRuntime {
    var providingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.register", "Provides tasks: others' calls of them come to this session.", Register.self,
                isOpen: true
            ) {
                [unowned self] call, options throws(BridgeError) in try registerTasks(call, options)
            },
            BridgeTasks.Task("bridge.unregister", "Provides tasks no more.", Unregister.self, isOpen: true) {
                [unowned self] call, options throws(BridgeError) in try unregisterTasks(call, options)
            },
        ]
    }

    private struct Register: Decodable {
        var tasks: [String]
        var scope: ProviderScope?
        /// What is to be known of the tasks, by their names.
        var descriptions: [String: ProvidedDescription]?
    }

    private func registerTasks(_ call: Call, _ register: Register) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        guard session.phase == .open else {
            throw BridgeError(.sessionClosed, "a session that has ended its input can provide no task")
        }
        for (index, name) in register.tasks.enumerated() {
            guard TaskName.isAllowed(name) else {
                throw BridgeError(
                    JSONMismatch(
                        path: "$.tasks[\(index)]",
                        expected: TaskName.rule, got: "\"\(name.prefix(64))\""))
            }
        }
        // All or none: what is taken, or not allowed, is found before anything is entered.
        for name in register.tasks { try check(.register, name, by: session, to: "provide the task \(name)") }
        for name in register.tasks {
            guard let entry = registry.find(name), !(entry.provider is ClientTask) else { continue }
            throw BridgeError(
                .taskTaken, "the task \(name) belongs to \(entry.provider.providerName) and cannot be taken")
        }
        try checkTasks(register.tasks, of: session)
        for (name, description) in register.descriptions ?? [:] { try check(description, of: name, register.tasks) }
        for name in register.tasks {
            try self.register(
                name, by: session,
                Provision(
                    scope: register.scope ?? .any, dialect: call.record.pointee.dialect,
                    description: register.descriptions?[name]))
        }
        return providedTasks(session)
    }

    private func check(
        _ description: ProvidedDescription, of name: String, _ tasks: [String]
    ) throws(BridgeError) {
        func refusal(_ member: String, _ expected: String, _ got: String) -> BridgeError {
            let step = JSON.string(String(name.prefix(64))).text
            return BridgeError(
                JSONMismatch(path: "$.descriptions[\(step)]\(member)", expected: expected, got: got))
        }
        guard tasks.contains(name) else { throw refusal("", "a task among $.tasks", "another") }
        if let summary = description.summary, summary.contains(where: \.isNewline) {
            throw refusal(".summary", "one line", "several")
        }
        let schemas = description.schemas
        let count = [schemas.options, schemas.result, schemas.progress].reduce(0) { $0 + ($1?.bytes.count ?? 0) }
        guard count <= Self.longestDescriptionBytes else {
            throw refusal("", "schemas of at most \(Self.longestDescriptionBytes) bytes", "\(count) bytes")
        }
        do throws(JSONSchemaError) { _ = try schemas.optionsCheck() } catch {
            throw refusal(".options", "a JSON Schema", "one of which \(error)")
        }
    }

    /// The daemon keeps them as long as the session provides the task.
    private static var longestDescriptionBytes: Int { 65_536 }

    private struct Unregister: Decodable {
        var tasks: [String]
    }

    private func unregisterTasks(_ call: Call, _ options: Unregister) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        for name in options.tasks { unregister(name, by: session) }
        return providedTasks(session)
    }

    private func providedTasks(_ session: Session) -> JSON {
        ["tasks": .array(session.registrations.sorted().map { .string($0) })]
    }
}
