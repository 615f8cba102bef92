import BridgeJSON
import BridgeMessage

/// A client's `bridge.register`: name by name and description by description within its user's share of the loop, those
/// that take long in the lane, then all tasks together.
final class TaskRegistration: StepJob {
    /// The daemon keeps a description as long as the session provides the task.
    static let maximumDescriptionBytes = 65_536

    let session: Session?
    private let clients: ClientTasks
    private let call: CallHandle
    private let provider: Session
    private var reading: RegistrationNames
    private var names: [String] { reading.names }
    /// What the options say of all tasks, until it has been cut.
    private var descriptions: RegistrationTexts?
    /// What is not read yet, the next one last.
    private var texts: [(task: String, text: [UInt8])] = []
    private var provisions: [String: Provision] = [:]
    /// What they hold, and what of it is counted as the session's: what is beyond ``replacedBytes``.
    private var provisionBytes = 0
    private var countedBytes = 0
    /// What is held for what the session says of these tasks now. It changes nothing of that while its job waits.
    private var replacedBytes: Int?
    /// Why one that was read in the lane is refused.
    private var refusal: BridgeError?
    /// A task for each name, for where there is none yet.
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
        // A session that is gone or being closed ends its calls itself.
        if provider.phase == .inputEnded { clients.calls.end(call, .failure(Self.inputEnded)) }
        guard provider.phase == .open else { return .done }
        do throws(BridgeError) {
            if let refusal { throw refusal }
            // Others may have had turns since it was asked: again with each step.
            guard try reading.check(clients, by: provider, until: budget) else { return .unfinished }
            if let descriptions {
                guard let cut = try descriptions.cut(names, until: budget) else { return .unfinished }
                texts = cut.reversed()
                self.descriptions = nil
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

    /// What is said to a session that has ended its input.
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
        // A plugin may have come meanwhile.
        let known = try names.map { name throws(BridgeError) in try clients.clientTask(named: name) }
        release()
        for index in names.indices {
            let provision = provisions[names[index]] ?? Provision(scope: scope, dialect: dialect)
            clients.register(
                names[index], by: provider, provision, in: known[index] ?? clients.enter(made[index]))
        }
    }

    // MARK: Quota

    /// Keeps what has been made of a description. It counts from now on: many sessions that register together have no
    /// more held than one.
    ///
    /// - Throws: `quota.exceeded`, where the session's user would have more of descriptions kept than may be.
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

    /// What is held no longer counts as pending: it is registered now, or it is not needed.
    private func release() {
        clients.quotas.holdDescription(-countedBytes, for: provider)
        countedBytes = 0
    }

    /// Any thread.
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
            throw refusal(task, ".options", "a JSON Schema", "one of which \(error)")
        }
    }

    static func refusal(_ task: String, _ member: String, _ expected: String, _ got: String) -> BridgeError {
        let step = JSON.string(String(task.prefix(64))).text
        return BridgeError(JSONMismatch(path: "$.descriptions[\(step)]\(member)", expected: expected, got: got))
    }
}
