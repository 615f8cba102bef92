import BridgeJSON
import BridgeMessage

// bridge.register, bridge.unregister: clients that provide tasks.
extension TaskRuntime {
    var providingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.register", "Provides tasks: calls of them by other sessions are sent to this session.",
                text: Register.self, isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try registerTasks(call, options)
            },
            BridgeTasks.Task(
                "bridge.unregister", "Stops providing tasks.", text: Unregister.self,
                optionBytes: TaskEntry.usualOptionBytes, isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try unregisterTasks(call, options)
            },
        ]
    }

    struct Register: Decodable {
        var tasks: [String]
        var scope: ProviderScope?
        /// The descriptions of the tasks, by name.
        var descriptions: [String: ProvidedDescription]?
    }

    /// The same options without the descriptions, with names that are read a few at a time.
    private struct ReadableRegister: Decodable {
        var tasks: NameReader
        var scope: ProviderScope?
    }

    private func registerTasks(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        guard session.phase == .open else { throw TaskRegistration.inputEnded }
        return try withMembers(["tasks", "scope", "descriptions"], of: options, for: call) {
            [unowned self] call, members throws(BridgeError) in .job(try registration(call, session, members))
        }
    }

    private func registration(
        _ call: Call, _ session: Session, _ members: OptionMembers
    ) throws(BridgeError) -> TaskRegistration {
        let register = try members.decode(ReadableRegister.self, without: "descriptions")
        return TaskRegistration(
            clients, call.handle, session, RegistrationNames(register.tasks),
            RegistrationTexts(members["descriptions"]),
            scope: register.scope ?? .any, dialect: call.record.pointee.dialect)
    }

    private struct Unregister: Decodable {
        var tasks: [String]
    }

    /// The same options, with names that are read a few at a time.
    private struct ReadableUnregister: Decodable {
        var tasks: NameReader
    }

    private func unregisterTasks(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        let names = try BridgeTasks.Task.decode(ReadableUnregister.self, options).tasks
        components.steps.begin(TaskWithdrawal(clients, call.handle, session, names), for: session.account)
        return nil
    }
}
