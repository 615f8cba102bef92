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
            BridgeTasks.Task(
                "bridge.unregister", "Provides tasks no more.", text: Unregister.self,
                optionBytes: TaskEntry.usualOptionBytes, isOpen: true
            ) {
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

    /// The same but the descriptions, with names that are read a few at a time.
    private struct ReadableRegister: Decodable {
        var tasks: NameReader
        var scope: ProviderScope?
    }

    private func registerTasks(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        guard session.phase == .open else {
            throw BridgeError(.sessionClosed, "a session that has ended its input can provide no task")
        }
        let members = try OptionMembers(["tasks", "scope", "descriptions"], of: options, check)
        let register = try members.decode(ReadableRegister.self, without: "descriptions")
        let registration = TaskRegistration(
            call.handle, session, RegistrationNames(register.tasks), members["descriptions"].map { Array($0) },
            scope: register.scope ?? .any, dialect: call.record.pointee.dialect)
        begin(registration, for: session.account)
        return nil
    }

    /// - Throws: `permission.denied`, and `task.taken` where the name is no client's.
    func checkProvision(of name: String, by session: Session) throws(BridgeError) {
        try check(.register, name, by: session, to: "provide the task \(name)")
        try checkIsFree(name)
    }

    /// - Throws: `task.taken`, where the name is no client's.
    func checkIsFree(_ name: String) throws(BridgeError) {
        guard let entry = registry.find(name), !(entry.provider is ClientTask) else { return }
        throw BridgeError(
            .taskTaken, "the task \(name) belongs to \(entry.provider.providerName) and cannot be taken")
    }

    /// What the options say of each task, as text.
    func descriptions(
        _ text: [UInt8]?, of names: [String]
    ) throws(BridgeError) -> [(task: String, text: [UInt8])] {
        guard let text, !text.elementsEqual("null".utf8) else { return [] }
        var found: [String: [UInt8]] = [:]
        var stranger: String?
        let known = Set(names)
        let fault = cut(text) { key, value in
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

    private func cut(
        _ text: [UInt8], _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> String? {
        var fault: String?
        text.withPadding { fault = check.cut($0, member) }
        return fault
    }

    private struct Unregister: Decodable {
        var tasks: [String]
    }

    /// The same, of which the names are read a few at a time.
    private struct ReadableUnregister: Decodable {
        var tasks: NameReader
    }

    private func unregisterTasks(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        let names = try BridgeTasks.Task.decode(ReadableUnregister.self, options).tasks
        begin(TaskWithdrawal(call.handle, session, names), for: session.account)
        return nil
    }

    /// What a session provides, as both answer it.
    func providedTasks(_ session: Session) -> [UInt8] {
        let tasks: JSON = ["tasks": .array(session.registrations.sorted().map { .string($0) })]
        return tasks.bytes
    }
}
