import BridgeJSON

// What the policy is asked, and what becomes of its answers. No other code asks it.
extension TaskRuntime {
    /// Goes by other rules from now on, for living sessions too. Calls in flight go on.
    public func apply(_ policy: Policy) {
        self.policy = policy
        policyRevision += 1
        forgetRights()
    }

    /// Something has changed that decisions about all sessions rest on.
    func forgetRights() {
        for session in sessions.values { session.forgetRights() }
    }

    /// Who a session is, to the policy.
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

    /// The tasks that can be called now, and what they take.
    public var ownPermissions: [(task: String, permission: String)] {
        registry.all.filter { !$0.isInternal }.map { (task: $0.name, permission: $0.description.permission) }
    }

    // MARK: Calls

    /// May the session call this task?
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

    /// Why the session may not call the task.
    func callDenial(_ task: TaskEntry, _ session: Session) -> BridgeError {
        denial(subject(session), "call \(task.name)", decision(onCallOf: task, by: session))
    }

    /// Rules may deny plugins what they call in their own name.
    ///
    /// - Throws: `permission.denied`.
    func checkCall(of task: TaskEntry, by plugin: PluginInstance) throws(BridgeError) {
        guard policy.bindsPluginCalls else { return }
        let subject = PolicySubject(plugin: plugin.name, daemonUID: policy.daemonUID)
        let decision = policy.decide(.call, task.description.permission, for: subject)
        if !decision.isAllowed { throw denial(subject, "call \(task.name)", decision) }
    }

    // MARK: Events

    /// Whether events of this name reach the session, if it wants them.
    func mayGet(_ event: String, _ session: Session) -> Bool {
        if session.isTrusted, policy.rules(about: .subscribe).isEmpty { return true }
        let name = ExactText(event)
        if let known = session.eventRights[name] { return known }
        let isAllowed = decide(.subscribe, event, isPublic: isPublicEvent(event), by: session).isAllowed
        guard event.utf8.count <= TextBounds.rememberedEvent else { return isAllowed }
        // Any client that may publish can make up names.
        if session.eventRights.count >= Self.maximumEventRights { session.eventRights.removeAll() }
        session.eventRights[name] = isAllowed
        return isAllowed
    }

    /// Whether a plugin marks events of this name as open, or they are news about the session that gets them.
    func isPublicEvent(_ name: String) -> Bool {
        name.isExactly(Self.droppedEvents)
            || plugins.contains { $0.manifest.events.contains { $0.name.isExactly(name) && $0.isPublic } }
    }

    /// The event that says how many others were dropped.
    static var droppedEvents: String { "bridge.events_dropped" }

    private static var maximumEventRights: Int { 256 }
}
