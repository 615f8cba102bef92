import BridgeJSON

/// The rights of sessions and plugins: asks the policy for decisions and caches them. Loop thread only.
final class Rights {
    /// The policy in force.
    private(set) var policy: Policy
    /// The revision of the policy; it increases with each change.
    private(set) var revision: UInt64 = 0
    /// The events that plugins mark as public, by name.
    private var publicEvents: Set<ExactText> = []
    private let sessions: SessionStore

    init(_ policy: Policy, _ sessions: SessionStore) {
        self.policy = policy
        self.sessions = sessions
    }

    /// Applies a new policy, also to existing sessions. Calls in flight continue.
    func apply(_ policy: Policy) {
        self.policy = policy
        revision += 1
        forget()
    }

    /// Discards the cached decisions about all sessions.
    func forget() {
        for session in sessions.all { session.forgetRights() }
    }

    /// Returns the policy subject of a session.
    func subject(_ session: Session) -> PolicySubject {
        PolicySubject(
            uid: session.peer.uid, gids: session.peer.gids, origin: session.origin, user: session.user,
            unit: policy.asksForUnit ? session.unit : nil)
    }

    func decide(_ verb: PolicyVerb, _ name: String, isPublic: Bool = false, by session: Session) -> PolicyDecision {
        policy.decide(verb, name, isPublic: isPublic, for: subject(session))
    }

    /// - Throws: `permission.denied`.
    func check(
        _ verb: PolicyVerb, _ name: String, isPublic: Bool = false, by session: Session,
        to what: @autoclosure () -> String
    ) throws(BridgeError) {
        let decision = decide(verb, name, isPublic: isPublic, by: session)
        if !decision.isAllowed { throw denial(subject(session), what(), decision) }
    }

    func denial(_ subject: PolicySubject, _ what: String, _ decision: PolicyDecision) -> BridgeError {
        BridgeError(
            .permissionDenied, "\(subject.label) may not \(what)", data: ["rule": .string(decision.rule)])
    }

    // MARK: Calls

    /// Returns whether the session may call this task.
    @inline(__always)
    func mayCall(_ task: TaskEntry, _ session: Session) -> Bool {
        session.callRights.known(of: task.number) ?? decideCall(of: task, by: session)
    }

    private func decideCall(of task: TaskEntry, by session: Session) -> Bool {
        let isAllowed = decision(onCallOf: task, by: session).isAllowed
        session.callRights.note(task.number, isAllowed: isAllowed)
        return isAllowed
    }

    func decision(onCallOf task: TaskEntry, by session: Session) -> PolicyDecision {
        decide(.call, task.description.permission, isPublic: task.description.isPublic, by: session)
    }

    /// Returns whether the maker of a call may call this task. For a call made on behalf of another call no rule is
    /// checked.
    func mayCall(_ task: TaskEntry, as call: Call) -> Bool {
        if call.origin == .session { return call.session.map { mayCall(task, $0) } ?? false }
        guard call.record.pointee.extras?.parent == nil, let plugin = call.pluginName else { return true }
        do throws(BridgeError) { try checkCall(of: task, byPlugin: plugin) } catch { return false }
        return true
    }

    /// Returns the error for a session that may not call the task.
    func callDenial(_ task: TaskEntry, _ session: Session) -> BridgeError {
        denial(subject(session), "call \(task.name)", decision(onCallOf: task, by: session))
    }

    /// Checks the rules that deny calls of plugins in their own name.
    ///
    /// - Throws: `permission.denied`.
    func checkCall(of task: TaskEntry, byPlugin name: String) throws(BridgeError) {
        guard policy.bindsPluginCalls else { return }
        let subject = PolicySubject(plugin: name, daemonUID: policy.daemonUID)
        let decision = policy.decide(.call, task.description.permission, for: subject)
        if !decision.isAllowed { throw denial(subject, "call \(task.name)", decision) }
    }

    // MARK: Events

    /// Returns whether the session may receive events of this name.
    func mayGet(_ event: String, _ session: Session) -> Bool {
        if session.isTrusted, policy.rules(about: .subscribe).isEmpty { return true }
        let name = ExactText(event)
        if let known = session.eventRights[name] { return known }
        let isAllowed = decide(.subscribe, event, isPublic: isPublicEvent(event), by: session).isAllowed
        guard event.utf8.count <= TextBounds.rememberedEvent else { return isAllowed }
        // The cache is bounded, as any client that may publish can invent names.
        if session.eventRights.count >= Self.maximumEventRights { session.eventRights.removeAll() }
        session.eventRights[name] = isAllowed
        return isAllowed
    }

    /// Returns whether the session of a subscription may receive an event that matches the subscription. Called for
    /// each receiver of each event.
    func mayGet(_ event: String, by subscription: Subscription) -> Bool {
        let revision = subscription.session.callRights.revision
        if let right = subscription.right, right.revision == revision { return right.isAllowed }
        let isAllowed = mayGet(event, subscription.session)
        if subscription.hasOneName { subscription.right = (isAllowed, revision) }
        return isAllowed
    }

    /// Replaces the set of public events.
    func setPublicEvents(_ names: Set<ExactText>) {
        guard names != publicEvents else { return }
        publicEvents = names
        forget()
    }

    /// Returns whether a plugin marks events of this name as public, or the event is about the receiving session
    /// itself.
    func isPublicEvent(_ name: String) -> Bool {
        name.isExactly(EventLines.droppedEvents) || publicEvents.contains(ExactText(name))
    }

    private static let maximumEventRights = 256
}
