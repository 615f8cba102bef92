/// The registration of one session as a provider of a task. It is a class because it stores decisions and moves between
/// lists.
final class Registration {
    let session: Session
    var provision: Provision
    /// The position of the registration; it increases with each registration of the task.
    let order: UInt64
    /// The owner of the session at the time of registration.
    let owner: ProviderOwner
    /// The task as a method of an OpenRPC document; `nil` before the first request. It never changes.
    var method: [UInt8]?
    /// Whether it may serve others, or this has not been checked: see ``RegistrationLists/newestServing(_:_:)``.
    var isServing = false
    /// The decision whether it may serve others, with the revisions that the decision depends on; `nil` before the
    /// first.
    private var decision: (policy: UInt64, identity: UInt32, PolicyDecision)?

    init(_ session: Session, _ provision: Provision, order: UInt64) {
        self.session = session
        self.provision = provision
        self.order = order
        owner = session.owner
    }

    /// Whether it takes calls. The end of a session takes several turns, in which its tasks are removed.
    var isOpen: Bool { session.phase == .open }
    /// Whether it takes calls that do not name its session.
    var takesOthers: Bool { isOpen && provision.scope == .any }
    /// Whether it takes calls of its owner. It does not after its session has named an origin.
    var takesOwners: Bool { isOpen && session.owner == owner }

    /// Returns whether the policy allows it to serve calls of others. This is decided once for each policy and
    /// identity.
    func mayServe(_ task: String, _ rights: Rights) -> PolicyDecision {
        let now = (policy: rights.revision, identity: session.identityRevision)
        if let decision, decision.policy == now.policy, decision.identity == now.identity { return decision.2 }
        let made = rights.decide(.serve, task, by: session)
        decision = (now.policy, now.identity, made)
        return made
    }
}
