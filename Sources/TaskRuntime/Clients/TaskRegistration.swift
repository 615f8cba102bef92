import BridgeJSON
import BridgeMessage

/// A job for a client's `bridge.register`. Names and descriptions are processed one by one within the user's share of
/// the loop; long descriptions are read in the lane. Then all tasks are registered together.
final class TaskRegistration: StepJob {
    /// The maximum length of a description. The daemon keeps it as long as the session provides the task.
    static let maximumDescriptionBytes = 65_536

    let session: Session?
    private let clients: ClientTasks
    private let call: CallHandle
    private let provider: Session
    private var reading: RegistrationNames
    private var names: [String] { reading.names }
    /// The descriptions of all tasks; `nil` once they are divided into texts.
    private var descriptions: RegistrationTexts?
    /// The texts that have not been read, the next one last.
    private var texts: [(task: String, text: [UInt8])] = []
    private var provisions: [String: Provision] = [:]
    /// The bytes that the provisions hold. ``countedBytes`` is the part beyond ``replacedBytes``, which is counted for
    /// the session.
    private var provisionBytes = 0
    private var countedBytes = 0
    /// The bytes held for the session's current descriptions of these tasks; `nil` before they are first counted. The
    /// session cannot change this while its job waits.
    private var replacedBytes: Int?
    /// The reason for refusing a description that was read in the lane; `nil` if none was refused.
    private var refusal: BridgeError?
    /// A new task for each name, used if the name has none yet.
    private var made: [(entry: TaskEntry, task: ClientTask)] = []
    private let scope: ProviderScope
    private let dialect: DialectID

    init(
        _ clients: ClientTasks, _ call: CallHandle, _ session: Session, _ names: RegistrationNames,
        _ descriptions: RegistrationTexts,
        scope: ProviderScope, dialect: DialectID
    ) {
        self.clients = clients
        self.call = call
        self.session = session
        provider = session
        reading = names
        self.descriptions = descriptions
        self.scope = scope
        self.dialect = dialect
    }

    func step(until budget: StepBudget) -> StepOutcome {
        let outcome = advance(until: budget)
        if outcome == .done { release() }
        return outcome
    }

    private func advance(until budget: StepBudget) -> StepOutcome {
        // No client waits for a registration that was cancelled.
        guard let call = clients.calls.call(call) else { return .done }
        // A session that has ended or is closing ends its calls itself.
        if provider.phase == .inputEnded { clients.calls.end(call, .failure(Self.inputEnded)) }
        guard provider.phase == .open else { return .done }
        do throws(BridgeError) {
            if let refusal { throw refusal }
            // Checks again in each step: other jobs may have run since the last step.
            guard try reading.check(clients, by: provider, until: budget) else { return .unfinished }
            if descriptions != nil {
                guard let cut = try descriptions?.cut(names, until: budget) else { return .unfinished }
                texts = cut.reversed()
                descriptions = nil
            }
            while let (task, text) = texts.popLast() {
                if let lane = clients.calls.lane, !LaneWork.isNeedless(for: text) {
                    try read(task, text, for: call, in: lane)
                    return .parked
                }
                try keep(try Self.provision(of: task, text, scope, dialect), of: task)
                if budget.isSpent, !texts.isEmpty { return .unfinished }
            }
            while made.count < names.count {
                made.append(clients.newClientTask(names[made.count]))
                if budget.isSpent { return .unfinished }
            }
            try register()
            clients.provided(by: provider).withUnsafeBytes { clients.calls.end(call, .result($0)) }
        } catch {
            clients.calls.end(call, .failure(error))
        }
        return .done
    }

    /// The error for a session that has ended its input.
    static var inputEnded: BridgeError {
        BridgeError(.sessionClosed, "a session that has ended its input can provide no task")
    }

    // MARK: Descriptions

    private func read(
        _ task: String, _ text: [UInt8], for call: Call, in lane: any WorkLane
    ) throws(BridgeError) {
        let (scope, dialect, account) = (scope, dialect, provider.account)
        try clients.calls.run(in: lane, for: call, holding: text.count) {
            Result { () throws(BridgeError) in try Self.provision(of: task, text, scope, dialect) }
        } then: { [self] found in
            do throws(BridgeError) {
                if let provision = try found?.get() { try keep(provision, of: task) }
            } catch {
                refusal = error
            }
            clients.calls.steps.wake(self, for: account)
        }
    }

    private func register() throws(BridgeError) {
        // A plugin may have been added meanwhile.
        let known = try names.map { name throws(BridgeError) in try clients.clientTask(named: name) }
        release()
        for index in names.indices {
            let provision = provisions[names[index]] ?? Provision(scope: scope, dialect: dialect)
            clients.register(
                names[index], by: provider, provision, in: known[index] ?? clients.enter(made[index]))
        }
    }

    // MARK: Quota

    /// Stores the provision of a task. It counts immediately, so that the quota also holds for many sessions that
    /// register at the same time.
    ///
    /// - Throws: `quota.exceeded` if the descriptions of the session's user would exceed the quota.
    private func keep(_ provision: Provision, of task: String) throws(BridgeError) {
        let replaced = replacedBytes ?? heldBytesNow
        replacedBytes = replaced
        provisionBytes += provision.description?.heldBytes ?? 0
        let added = max(0, provisionBytes - replaced) - countedBytes
        try clients.quotas.checkDescriptions(added, of: provider.account)
        clients.quotas.holdDescription(added, for: provider)
        countedBytes += added
        provisions[task] = provision
    }

    private var heldBytesNow: Int {
        names.reduce(0) { $0 + clients.heldBytes(of: $1, by: provider) }
    }

    /// Stops counting the provisions as pending: they are registered now, or not needed.
    private func release() {
        clients.quotas.holdDescription(-countedBytes, for: provider)
        countedBytes = 0
    }

    /// Decodes and checks a description. Any thread.
    private static func provision(
        of task: String, _ text: [UInt8], _ scope: ProviderScope, _ dialect: DialectID
    ) throws(BridgeError) -> Provision {
        guard text.count <= maximumDescriptionBytes else {
            throw refusal(
                task, "", "at most \(maximumDescriptionBytes) bytes of schemas and summary", "more")
        }
        let description: ProvidedDescription
        do throws(JSONMismatch) {
            description = try JSONCoding.decode(ProvidedDescription.self, text: text)
        } catch {
            throw refusal(task, String(error.path.dropFirst()), error.expected, error.got)
        }
        if let summary = description.summary, summary.contains(where: \.isNewline) {
            throw refusal(task, ".summary", "one line", "several")
        }
        let summaryBytes = description.summary?.utf8.count ?? 0
        guard summaryBytes <= TextBounds.summary else {
            throw refusal(task, ".summary", "at most \(TextBounds.summary) bytes", "\(summaryBytes) bytes")
        }
        do throws(JSONSchemaError) {
            return try Provision(scope: scope, dialect: dialect, description: description)
        } catch {
            throw refusal(task, ".options", "a JSON Schema", "an invalid one: \(error)")
        }
    }

    static func refusal(_ task: String, _ member: String, _ expected: String, _ got: String) -> BridgeError {
        let step = JSON.string(String(task.prefix(64))).text
        return BridgeError(JSONMismatch(path: "$.descriptions[\(step)]\(member)", expected: expected, got: got))
    }
}
