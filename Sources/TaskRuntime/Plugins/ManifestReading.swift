public import BridgeJSON

extension PluginManifest {
    /// The format of the manifest's text; see docs/plugins.md.
    private struct Text: Decodable {
        struct Task: Decodable {
            var name: String
            var summary: String
            var permission: String?
            var timeout: JSON?
            var concurrency: Int?
            var optionBytes: Int?
            var `private`: Bool?
            var `public`: Bool?
            var optionPermissions: [String: String]?
            var options: JSON?
            var result: JSON?
            var progress: JSON?
        }
        struct Event: Decodable {
            var name: String
            var summary: String
            var `public`: Bool?
        }
        struct Worker: Decodable {
            var name: String
            var phase: String
            var after: [String]?
            var required: Bool?
        }
        struct Interceptor: Decodable {
            var name: String
            var summary: String
            var tasks: [String]
            var onFailure: InterceptorFailure?
        }
        var name: String
        var version: String
        var tasks: [Task]
        var interceptors: [Interceptor]?
        var events: [Event]?
        var launchWorkers: [Worker]?
        var configuration: JSON?
        var reloadable: Bool?
        var error: String?
    }

    /// Reads a manifest.
    ///
    /// - Throws: A ``BridgeError`` whose message describes the fault.
    public init(parsing bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        let json: JSON
        do { json = try JSON(parsing: bytes) } catch {
            throw Self.refusal("it is not JSON: \(error.reason) at byte \(error.offset)")
        }
        try self.init(json)
    }

    /// Reads a manifest that has been parsed.
    ///
    /// - Parameter optionBytes: The maximum length of a task's options if the manifest specifies none.
    /// - Throws: A ``BridgeError`` whose message describes the fault.
    public init(_ json: JSON, optionBytes: Int = TaskDescription.usualOptionBytes) throws(BridgeError) {
        let text: Text
        do { text = try JSONCoding.decode(Text.self, from: json) } catch {
            throw Self.refusal("\(error.path): expected \(error.expected); got \(error.got)")
        }
        if let error = text.error { throw Self.refusal(error) }
        for (part, what) in [
            (json, "the manifest"), (json["tasks"], "a task"), (json["events"], "an event"),
            (json["interceptors"], "an interceptor"),
        ] {
            if let fault = RenamedName.fault(in: part, what) { throw Self.refusal(fault) }
        }
        guard !text.name.isEmpty else { throw Self.refusal("the plugin has no name") }
        name = text.name
        version = text.version
        // A `null` "timeout" of a task means no timeout, a missing one the daemon's default: both decode as nil.
        let written = json["tasks"]?.arrayValue ?? []
        tasks = []
        for (task, raw) in zip(text.tasks, written) { tasks.append(try Self.task(task, raw, optionBytes)) }
        for event in text.events ?? [] where !PublicName.isAllowed(event.name) {
            let name = JSON.string(String(event.name.prefix(64))).text
            throw Self.refusal("the event \(name) has an invalid name; it must have \(PublicName.rule)")
        }
        events = (text.events ?? []).map {
            EventSummary(name: $0.name, summary: $0.summary, isPublic: $0.public ?? false)
        }
        workers = []
        for worker in text.launchWorkers ?? [] { workers.append(try Self.worker(worker)) }
        configuration = text.configuration
        isReloadable = text.reloadable ?? false
        interceptors = []
        for interceptor in text.interceptors ?? [] { interceptors.append(try Self.interceptor(interceptor)) }
        let names = tasks.map(\.name)
        guard Set(names).count == names.count else { throw Self.refusal("two of its tasks have the same name") }
        guard Set(interceptors.map(\.name)).count == interceptors.count else {
            throw Self.refusal("two of its interceptors have the same name")
        }
    }

    private static func task(
        _ task: Text.Task, _ raw: JSON, _ usualOptionBytes: Int
    ) throws(BridgeError) -> TaskDescription {
        guard TaskName.isAllowed(task.name) else {
            throw refusal(
                "the task \(JSON.string(String(task.name.prefix(64))).text) has an invalid name; it must have "
                    + TaskName.rule
            )
        }
        let schemas = TaskSchemas(options: task.options, result: task.result, progress: task.progress)
        do throws(JSONSchemaError) { _ = try schemas.optionsCheck() } catch {
            throw refusal("the options of the task \(task.name) have no valid JSON Schema: \(error)")
        }
        if let bound = task.concurrency, bound < 1 { throw refusal("the task \(task.name) has a concurrency below 1") }
        if let bytes = task.optionBytes, bytes < 1 {
            throw refusal("the task \(task.name) has optionBytes below 1")
        }
        return TaskDescription(
            name: task.name, summary: task.summary, permission: task.permission,
            isPublic: task.public ?? false, optionPermissions: try optionPermissions(of: task),
            deadline: try deadline(raw["timeout"], of: task.name),
            concurrency: task.concurrency,
            isPrivate: task.private ?? false,
            optionBytes: task.optionBytes ?? usualOptionBytes,
            schemas: schemas)
    }

    private static func optionPermissions(of task: Text.Task) throws(BridgeError) -> [String: PolicyVerb] {
        var verbs: [String: PolicyVerb] = [:]
        for (option, text) in task.optionPermissions ?? [:] {
            guard let verb = PolicyVerb(rawValue: text), PolicyVerb.ofOptions.contains(verb) else {
                let known = PolicyVerb.ofOptions.map(\.rawValue).joined(separator: ", ")
                throw refusal(
                    "the option \(option) of the task \(task.name) has the verb \(JSON.string(text).text); expected "
                        + "\(known)"
                )
            }
            verbs[option] = verb
        }
        return verbs
    }

    private static func deadline(_ timeout: JSON?, of name: String) throws(BridgeError) -> TaskDeadline {
        guard let timeout else { return .standard }
        if timeout.isNull { return .none }
        guard let milliseconds = timeout.int64Value, milliseconds > 0 else {
            throw refusal("the task \(name) has a timeout that is neither null nor milliseconds above 0")
        }
        return .after(.milliseconds(milliseconds))
    }

    private static func worker(_ worker: Text.Worker) throws(BridgeError) -> Worker {
        guard let phase = LaunchPhase(rawValue: worker.phase), phase.isOpenToPlugins else {
            throw refusal("the launch worker \(worker.name) has a phase that is not for plugins: \(worker.phase)")
        }
        return Worker(
            name: worker.name, phase: phase, after: worker.after ?? [], isRequired: worker.required ?? true)
    }

    private static func interceptor(_ written: Text.Interceptor) throws(BridgeError) -> InterceptorDescription {
        guard !written.name.isEmpty else { throw refusal("an interceptor has no name") }
        for task in written.tasks where EventPattern(task) == nil {
            throw refusal(
                "the interceptor \(written.name) is for \(JSON.string(String(task.prefix(64))).text); expected the "
                    + "name of a task: \(EventPattern.rule)")
        }
        return InterceptorDescription(
            name: written.name, summary: written.summary, tasks: written.tasks, onFailure: written.onFailure ?? .refuse)
    }

    private static func refusal(_ reason: String) -> BridgeError {
        BridgeError(.pluginUnavailable, "the plugin's manifest cannot be used: \(reason)")
    }
}
