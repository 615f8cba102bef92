import BridgeJSON

// bridge.tasks, bridge.describe, rpc.discover: what the bridge can do.
extension TaskRuntime {
    var describingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task("bridge.tasks", "Lists the tasks that the caller may call.", isOpen: true) {
                [unowned self] call in
                listTasks(call)
            },
            BridgeTasks.Task(
                "bridge.describe", "Describes a task, or all: options, result, permission.", Describe.self, isOpen: true
            ) {
                [unowned self] call, options throws(BridgeError) in try describe(call, options)
            },
            BridgeTasks.Task("rpc.discover", "Describes all tasks as an OpenRPC document.", isOpen: true) {
                [unowned self] call in
                discover(call)
            },
        ]
    }

    private func listTasks(_ call: Call) -> JSON {
        [
            "tasks": .array(
                callableTasks(call).map {
                    ["name": .string($0.name), "summary": .string($0.summary), "open": .bool($0.description.isOpen)]
                })
        ]
    }

    private func callableTasks(_ call: Call) -> [TaskEntry] { registry.all.filter { mayCall($0, call) } }

    private func mayCall(_ task: TaskEntry, _ call: Call) -> Bool {
        guard !task.isInternal else { return false }
        guard let session = call.session else { return true }
        return mayCall(task, session)
    }

    private struct Describe: Decodable {
        var task: String?
    }

    private func describe(_ call: Call, _ options: Describe) throws(BridgeError) -> JSON? {
        let handle = call.handle
        guard let name = options.task else {
            withSchemas(of: callableTasks(call)) { [unowned self] described in
                answer(handle, .success(["tasks": .array(described.map(description))]))
            }
            return nil
        }
        guard let task = registry.find(name), mayCall(task, call) else {
            throw BridgeError(.taskNotFound, "there is no task \(name); bridge.tasks lists those that there are")
        }
        withSchemas(of: [task]) { [unowned self] described in
            answer(handle, .success(description(of: described[0])))
        }
        return nil
    }

    private func discover(_ call: Call) -> JSON? {
        let handle = call.handle
        withSchemas(of: callableTasks(call)) { [unowned self] described in
            answer(handle, .success(OpenRPCDocument(described, version: daemon.version).json))
        }
        return nil
    }

    /// Tells the tasks with their schemas, at once or later.
    private func withSchemas(of tasks: [TaskEntry], _ done: @escaping ([DescribedTask]) -> Void) {
        var described = tasks.map { DescribedTask(task: $0, schemas: TaskSchemas()) }
        var missing = tasks.count
        if missing == 0 { return done([]) }
        for (index, task) in tasks.enumerated() {
            task.provider.describe(task) { schemas in
                described[index].schemas = schemas
                missing -= 1
                if missing == 0 { done(described) }
            }
        }
    }

    private func description(of described: DescribedTask) -> JSON {
        let (task, schemas) = (described.task, described.schemas)
        let plugin = task.provider as? PluginSlot
        let events = plugin?.manifest.events ?? []
        return [
            "name": .string(task.name), "summary": .string(task.summary),
            "permission": .string(task.description.permission), "open": .bool(task.description.isOpen),
            "optionVerbs": .object(optionVerbs(of: task)), "options": schemas.options ?? true,
            "result": schemas.result ?? true, "progress": schemas.progress ?? .null,
            "events": .array(
                events.map {
                    ["name": .string($0.name), "summary": .string($0.summary), "open": .bool($0.isOpen)]
                }),
            "plugin": plugin.map { .string($0.name) } ?? .null,
            "provider": .string(task.provider.providerName), "interceptors": describeInterceptors(of: task),
        ]
    }

    private func optionVerbs(of task: TaskEntry) -> JSONObject {
        var verbs = JSONObject()
        for (option, verb) in task.description.optionVerbs.sorted(by: { $0.key < $1.key }) {
            verbs[option] = .string(verb.rawValue)
        }
        return verbs
    }
}

/// A task and what is known of its options and results.
struct DescribedTask {
    var task: TaskEntry
    var schemas: TaskSchemas
}
