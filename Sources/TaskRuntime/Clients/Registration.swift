/// That one session provides a task. A class: what was decided about it is kept, and it is moved within lists.
final class Registration {
    let session: Session
    var provision: Provision
    /// Grows with each registration of the task.
    let order: UInt64
    /// Whose it was when it registered.
    let owner: ProviderOwner
    /// The task as a method of an OpenRPC document, once it has been asked for; it never changes.
    var method: [UInt8]?
    /// Whether it may serve others, as far as is known: see ``RegistrationLists/newestServing(_:_:)``.
    var isServing = false
    /// Whether it may serve others, and what that decision rests on.
    private var decision: (policy: UInt64, identity: UInt32, PolicyDecision)?

    init(_ session: Session, _ provision: Provision, order: UInt64) {
        self.session = session
        self.provision = provision
        self.order = order
        owner = session.owner
    }

    /// Whether it takes calls: the end of a session takes several turns, and its tasks leave in the course of it.
    var isOpen: Bool { session.phase == .open }
    /// Whether it takes calls that do not name its session.
    var takesOthers: Bool { isOpen && provision.scope == .any }
    /// Whether it takes its owner's calls: not once its session has named an origin.
    var takesOwners: Bool { isOpen && session.owner == owner }

    /// Whether the policy lets it serve others' calls. Decided once for each policy and identity.
    func mayServe(_ task: String, _ rights: Rights) -> PolicyDecision {
        let now = (policy: rights.revision, identity: session.identityRevision)
        if let decision, decision.policy == now.policy, decision.identity == now.identity { return decision.2 }
        let made = rights.decide(.serve, task, by: session)
        decision = (now.policy, now.identity, made)
        return made
    }
}
