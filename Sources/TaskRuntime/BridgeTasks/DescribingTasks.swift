import BridgeJSON

// bridge.tasks, bridge.describe, rpc.discover: lists and descriptions of tasks.
extension TaskRuntime {
    var describingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(table: "bridge.tasks", "Lists the tasks that the caller may call.", isPublic: true) {
                [unowned self] call, request throws(BridgeError) in
                try listTasks(call, request)
            },
            BridgeTasks.Task(
                answeringText: "bridge.describe", "Describes a task, or all: options, result, permission.",
                Describe.self,
                isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try describe(call, options)
            }.answeringAtLength(),
            BridgeTasks.Task("rpc.discover", "Describes all tasks as an OpenRPC document.", isPublic: true) {
                [unowned self] call in
                discover(call)
            }.answeringAtLength(),
        ]
    }

    private func listTasks(_ call: Call, _ request: PageRequest) throws(BridgeError) -> [UInt8] {
        try page(
            "tasks", request, of: tasks.after(request.cursor ?? ""), position: { $0.name },
            text: { task in
                guard mayCall(task, call) else { return nil }
                let shown: JSON = [
                    "name": .string(task.name), "summary": .string(source(of: task, for: call.session).summary),
                    "public": .bool(task.description.isPublic),
                ]
                return shown.bytes
            })
    }

    private func mayCall(_ task: TaskEntry, _ call: Call) -> Bool {
        guard !task.isInternal else { return false }
        guard let session = call.session else { return true }
        return rights.mayCall(task, session)
    }

    // MARK: Schemas

    /// Calls `done` once the plugins have reported the schemas of their tasks or have failed to; immediately if all
    /// have reported before.
    private func learnSchemas(of plugins: [PluginInstance], for call: Call, _ done: @escaping () -> Void) {
        let asked = plugins.filter { !$0.hasDescribedItself }
        if asked.isEmpty { return done() }
        let questions = SchemaQuestions(asked)
        components.steps.begin(questions, for: call.session?.account ?? asked[0].account)
        questions.whenAnswered(done)
    }

    private func plugins(of entries: some Sequence<TaskEntry>) -> [PluginInstance] {
        entries.reduce(into: []) { found, task in
            guard let plugin = task.provider as? PluginInstance, !found.contains(where: { $0 === plugin }) else {
                return
            }
            found.append(plugin)
        }
    }

    // MARK: bridge.describe

    private struct Describe: Decodable {
        var task: String?
        /// Without `task`: the maximum number of entries.
        var limit: Int?
        /// Without `task`: the end of the previous page.
        var cursor: String?

        var page: PageRequest { PageRequest(limit: limit, cursor: cursor) }
    }

    private func describe(_ call: Call, _ options: Describe) throws(BridgeError) -> [UInt8]? {
        guard let name = options.task else { return try describePage(call, options.page) }
        guard let task = tasks.find(name), mayCall(task, call) else {
            throw suggestions.notFound(String(name.unicodeScalars.prefix(256)), for: call.session)
        }
        let handle = call.handle
        learnSchemas(of: plugins(of: [task]), for: call) { [unowned self] in
            guard let call = calls.call(handle) else { return }
            calls.answer(handle, text: .success(description(of: task, for: call.session)))
        }
        return nil
    }

    private func describePage(_ call: Call, _ request: PageRequest) throws(BridgeError) -> [UInt8]? {
        // Refuses invalid options before any plugin is asked.
        _ = try TablePage("tasks", request, messageBytes: quotas.limits.messageBytes)
        let handle = call.handle
        let first = tasks.after(request.cursor ?? "").prefix(TablePage.maximumEntries)
        learnSchemas(of: plugins(of: first), for: call) { [unowned self] in
            guard let call = calls.call(handle) else { return }
            calls.answer(handle, text: Result { () throws(BridgeError) in try descriptions(call, request) })
        }
        return nil
    }

    private func descriptions(_ call: Call, _ request: PageRequest) throws(BridgeError) -> [UInt8] {
        try page(
            "tasks", request, of: tasks.after(request.cursor ?? ""), position: { $0.name },
            text: { mayCall($0, call) ? description(of: $0, for: call.session) : nil },
            name: { ["name": .string($0.name)] })
    }

    /// Returns the source of a task's description. For a client's task this is the session that gets the caller's
    /// calls.
    private func source(of task: TaskEntry, for caller: Session?) -> (summary: String, provider: Session?) {
        guard let client = task.provider as? ClientTask, let provider = client.provider(of: task, for: caller) else {
            return (task.description.summary, nil)
        }
        return (provider.description?.summary ?? task.description.summary, provider.session)
    }

    private func description(of task: TaskEntry, for caller: Session?) -> [UInt8] {
        if let known = task.shown.description { return known }
        let plugin = task.provider as? PluginInstance
        let source = source(of: task, for: caller)
        let schemas = task.provider.schemaTexts(of: task, for: caller)
        let anything = Array("true".utf8)
        var text = ObjectText()
        text.add("name", .string(task.name))
        text.add("summary", .string(source.summary))
        text.add("permission", .string(task.description.permission))
        text.add("public", .bool(task.description.isPublic))
        text.add("optionPermissions", .object(optionPermissions(of: task)))
        text.add("options", text: schemas.options ?? anything)
        text.add("result", text: schemas.result ?? anything)
        text.add("progress", text: schemas.progress ?? Array("null".utf8))
        text.add(
            "events",
            .array(
                (plugin?.manifest.events ?? []).map {
                    ["name": .string($0.name), "summary": .string($0.summary), "public": .bool($0.isPublic)]
                }))
        text.add("plugin", plugin.map { .string($0.name) } ?? .null)
        text.add("provider", .string(task.provider.providerName))
        text.add("describedBy", source.provider.map(describer) ?? .null)
        text.add("interceptors", describeInterceptors(of: task))
        let description = text.finished()
        if isShownForGood(task) { task.shown.description = description }
        return description
    }

    /// Returns the session that wrote a description, and its user.
    private func describer(_ session: Session) -> JSON {
        [
            "session": .number(JSONNumber(session.number)), "uid": .number(JSONNumber(UInt64(session.peer.uid))),
        ]
    }

    private func optionPermissions(of task: TaskEntry) -> JSONObject {
        var verbs = JSONObject()
        for (option, verb) in task.description.optionPermissions.sorted(by: { $0.key < $1.key }) {
            verbs[option] = .string(verb.rawValue)
        }
        return verbs
    }

    /// Returns whether the description of a task is final except for its interceptors.
    private func isShownForGood(_ task: TaskEntry) -> Bool {
        if let plugin = task.provider as? PluginInstance { return plugin.hasDescribedItself }
        return task.provider is BridgeTasks
    }

    // MARK: rpc.discover

    private func discover(_ call: Call) -> JSON? {
        let handle = call.handle
        learnSchemas(of: directory.all.filter { !$0.tasks.isEmpty }, for: call) { [unowned self] in
            guard let call = calls.call(handle) else { return }
            let document = OpenRPCDocument(version: daemon.version, maximumBytes: quotas.limits.messageBytes)
            if let session = call.session {
                components.steps.begin(DiscoverJob(self, handle, session, document), for: session.account)
            } else {
                answer(handle, document)
            }
        }
        return nil
    }

    private func answer(_ call: CallHandle, _ document: OpenRPCDocument) {
        var document = document
        while addTasks(to: &document, for: call) {}
        end(call, document)
    }

    /// Adds the next tasks that the caller may call. Returns false if there are no more, or if the call has ended.
    fileprivate func addTasks(to document: inout OpenRPCDocument, for call: CallHandle) -> Bool {
        guard let call = calls.call(call) else { return false }
        return document.step(tasks, isShown: { mayCall($0, call) }, method: { method(of: $0, for: call.session) })
    }

    fileprivate func end(_ call: CallHandle, _ document: OpenRPCDocument) {
        calls.answer(call, text: Result { () throws(BridgeError) in try document.finished() })
    }

    private func method(of task: TaskEntry, for caller: Session?) -> [UInt8] {
        if let known = task.shown.method { return known }
        if let client = task.provider as? ClientTask { return client.method(of: task, for: caller) }
        let method = OpenRPCDocument.method(
            task, task.description.summary, task.provider.schemaTexts(of: task, for: caller))
        if isShownForGood(task) { task.shown.method = method }
        return method
    }
}

/// A job for `rpc.discover`: adds a few tasks within each share of its user.
private final class DiscoverJob: StepJob {
    let session: Session?
    private unowned let runtime: TaskRuntime
    private let call: CallHandle
    private var document: OpenRPCDocument

    init(_ runtime: TaskRuntime, _ call: CallHandle, _ session: Session, _ document: OpenRPCDocument) {
        self.runtime = runtime
        self.call = call
        self.session = session
        self.document = document
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while runtime.addTasks(to: &document, for: call) {
            if budget.isSpent { return .unfinished }
        }
        runtime.end(call, document)
        return .done
    }
}
