import BridgeJSON
import BridgeMessage

// bridge.register, bridge.unregister: clients that provide tasks.
extension TaskRuntime {
    var providingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.register", "Provides tasks: others' calls of them come to this session.",
                text: Register.self, isOpen: true
            ) {
                [unowned self] call, options throws(BridgeError) in try registerTasks(call, options)
            },
            BridgeTasks.Task("bridge.unregister", "Provides tasks no more.", Unregister.self, isOpen: true) {
                [unowned self] call, options throws(BridgeError) in try unregisterTasks(call, options)
            },
        ]
    }

    struct Register: Decodable {
        var tasks: [String]
        var scope: ProviderScope?
        /// What is to be known of the tasks, by their names.
        var descriptions: [String: ProvidedDescription]?
    }

    private func registerTasks(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        guard session.phase == .open else {
            throw BridgeError(.sessionClosed, "a session that has ended its input can provide no task")
        }
        let members = try OptionMembers(["tasks", "scope", "descriptions"], of: options, check)
        let register = try members.decode(Register.self, without: "descriptions")
        let names = try allowedNames(register.tasks)
        try checkTasks(names, of: session)
        try checkProvision(of: names, by: session)
        let texts = try descriptions(members["descriptions"], of: names)
        let registration = TaskRegistration(
            call.handle, session, names, texts, scope: register.scope ?? .any, dialect: call.record.pointee.dialect)
        begin(registration, for: session.account)
        return nil
    }

    /// The names, each once.
    private func allowedNames(_ tasks: [String]) throws(BridgeError) -> [String] {
        var known: Set<String> = []
        var names: [String] = []
        for (index, name) in tasks.enumerated() where known.insert(name).inserted {
            guard TaskName.isAllowed(name) else {
                throw BridgeError(
                    JSONMismatch(
                        path: "$.tasks[\(index)]", expected: TaskName.rule, got: "\"\(name.prefix(64))\""))
            }
            names.append(name)
        }
        return names
    }

    /// All or none: what is taken, or not allowed, is found before anything is entered.
    func checkProvision(of names: [String], by session: Session) throws(BridgeError) {
        for name in names { try check(.register, name, by: session, to: "provide the task \(name)") }
        for name in names {
            guard let entry = registry.find(name), !(entry.provider is ClientTask) else { continue }
            throw BridgeError(
                .taskTaken, "the task \(name) belongs to \(entry.provider.providerName) and cannot be taken")
        }
    }

    /// What the options say of each task, as text.
    private func descriptions(
        _ text: UnsafeRawBufferPointer?, of names: [String]
    ) throws(BridgeError) -> [(task: String, text: [UInt8])] {
        guard let text, !text.elementsEqual("null".utf8) else { return [] }
        var found: [String: [UInt8]] = [:]
        var stranger: String?
        let known = Set(names)
        let fault = check.cut(text) { key, value in
            guard stranger == nil else { return }
            // A name has 128 bytes at most, and each is written with six at most.
            let name = key.count > 1024 ? nil : (try? JSON(parsing: [0x22] + key + [0x22]))?.stringValue
            guard let name, known.contains(name) else {
                stranger = String(decoding: key.prefix(64), as: UTF8.self)
                return
            }
            found[name] = Array(value.prefix(TaskRegistration.maximumDescriptionBytes + 1))
        }
        if let fault {
            throw BridgeError(
                JSONMismatch(path: "$.descriptions", expected: "an object", got: "what is none: \(fault)"))
        }
        if let stranger {
            throw TaskRegistration.refusal(stranger, "", "a task among $.tasks", "another")
        }
        return names.compactMap { name in found[name].map { (name, $0) } }
    }

    private struct Unregister: Decodable {
        var tasks: [String]
    }

    private func unregisterTasks(_ call: Call, _ options: Unregister) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        for name in options.tasks { unregister(name, by: session) }
        return providedTasks(session)
    }

    func providedTasks(_ session: Session) -> JSON {
        ["tasks": .array(session.registrations.sorted().map { .string($0) })]
    }
}
