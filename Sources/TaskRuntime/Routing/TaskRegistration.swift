import BridgeJSON
import BridgeMessage

/// A client's `bridge.register`: name by name and description by description within its user's share of the loop, those
/// that take long in the lane, then all tasks at once.
final class TaskRegistration: StepJob {
    /// The daemon keeps a description as long as the session provides the task.
    static let maximumDescriptionBytes = 65_536

    let session: Session?
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
        _ call: CallHandle, _ session: Session, _ names: RegistrationNames, _ descriptions: RegistrationTexts,
        scope: ProviderScope, dialect: DialectID
    ) {
        self.call = call
        self.session = session
        provider = session
        reading = names
        self.descriptions = descriptions
        self.scope = scope
        self.dialect = dialect
    }

    func step(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        let outcome = advance(runtime, until: budget)
        if outcome == .done { release(runtime) }
        return outcome
    }

    private func advance(_ runtime: TaskRuntime, until budget: StepBudget) -> StepOutcome {
        // No client waits for a registration that was cancelled.
        guard let call = runtime.calls.call(call) else { return .done }
        // A session that is gone or being closed ends its calls itself.
        if provider.phase == .inputEnded { runtime.end(call, .failure(Self.inputEnded)) }
        guard provider.phase == .open else { return .done }
        do throws(BridgeError) {
            if let refusal { throw refusal }
            // Others may have had turns since it was asked: again with each step.
            guard try reading.check(runtime, by: provider, until: budget) else { return .unfinished }
            if let descriptions {
                guard let cut = try descriptions.cut(names, until: budget) else { return .unfinished }
                texts = cut.reversed()
                self.descriptions = nil
            }
            while let (task, text) = texts.popLast() {
                if let lane = runtime.lane, !Self.isQuick(text) {
                    try read(task, text, for: call, in: lane, runtime)
                    return .parked
                }
                try keep(try Self.provision(of: task, text, scope, dialect), of: task, runtime)
                if budget.isSpent, !texts.isEmpty { return .unfinished }
            }
            while made.count < names.count {
                made.append(runtime.newClientTask(names[made.count]))
                if budget.isSpent { return .unfinished }
            }
            try register(runtime)
            runtime.providedTasks(provider).withUnsafeBytes { runtime.end(call, .result($0)) }
        } catch {
            runtime.end(call, .failure(error))
        }
        return .done
    }

    /// What is said to a session that has ended its input.
    static var inputEnded: BridgeError {
        BridgeError(.sessionClosed, "a session that has ended its input can provide no task")
    }

    // MARK: Descriptions

    /// A longer description is read in the lane: each byte may take 100 ns.
    private static let quickBytes = 1_024

    /// Whether a description, or its schema, is read in less than about 100 µs. What a pattern takes its length does
    /// not say, and with an escape in it the word may be there and not be seen.
    static func isQuick(_ text: [UInt8]) -> Bool {
        text.count <= quickBytes && !text.contains(UInt8(ascii: "\\")) && !text.contains("pattern".utf8)
    }

    private func read(
        _ task: String, _ text: [UInt8], for call: Call, in lane: any WorkLane, _ runtime: TaskRuntime
    ) throws(BridgeError) {
        let (scope, dialect, account) = (scope, dialect, provider.account)
        try runtime.run(in: lane, for: call, holding: text.count) {
            Result { () throws(BridgeError) in try Self.provision(of: task, text, scope, dialect) }
        } then: { [self] found in
            do throws(BridgeError) {
                if let provision = try found?.get() { try keep(provision, of: task, runtime) }
            } catch {
                refusal = error
            }
            runtime.wake(self, for: account)
        }
    }

    private func register(_ runtime: TaskRuntime) throws(BridgeError) {
        // A plugin may have come meanwhile.
        let known = try names.map { name throws(BridgeError) in try runtime.clientTask(named: name) }
        release(runtime)
        for index in names.indices {
            let provision = provisions[names[index]] ?? Provision(scope: scope, dialect: dialect)
            runtime.register(
                names[index], by: provider, provision, in: known[index] ?? runtime.enter(made[index]))
        }
    }

    // MARK: Quota

    /// Keeps what has been made of a description. It counts from now on: many sessions that register at once have no
    /// more held than one.
    ///
    /// - Throws: `quota.exceeded`, where the session's user would have more of descriptions kept than may be.
    private func keep(_ provision: Provision, of task: String, _ runtime: TaskRuntime) throws(BridgeError) {
        let replaced = replacedBytes ?? heldBytesNow(runtime)
        replacedBytes = replaced
        provisionBytes += provision.description?.heldBytes ?? 0
        let added = max(0, provisionBytes - replaced) - countedBytes
        try runtime.checkDescriptions(added, of: provider.account)
        runtime.holdDescription(added, for: provider)
        countedBytes += added
        provisions[task] = provision
    }

    private func heldBytesNow(_ runtime: TaskRuntime) -> Int {
        names.reduce(0) { $0 + ((runtime.registry.find($1)?.provider as? ClientTask)?.heldBytes(of: provider) ?? 0) }
    }

    /// What is held no longer counts as pending: it is registered now, or it is not needed.
    private func release(_ runtime: TaskRuntime) {
        runtime.holdDescription(-countedBytes, for: provider)
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
