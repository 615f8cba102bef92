/// Whether something may be done.
public enum PolicyDecision: Sendable, Equatable {
    /// It may.
    case allowed
    /// It may not, by this rule.
    case denied(rule: String)
}

/// Who may do what. The one place where that is decided; the router asks it before anything else happens.
///
/// Until rules can be written there is one: root and the daemon's own user may do everything, others nothing.
public struct Policy: Sendable {
    /// The user id that the daemon runs under.
    public let daemonUID: UInt32

    /// - Parameter daemonUID: the user id that the daemon runs under.
    public init(daemonUID: UInt32) { self.daemonUID = daemonUID }

    /// Whether a peer is root or the daemon's own user.
    public func trusts(_ peer: PeerIdentity) -> Bool { trusts(uid: peer.uid) }

    /// Whether a user is root or the daemon's own.
    public func trusts(uid: UInt32) -> Bool { uid == 0 || uid == daemonUID }

    /// May the session call this task?
    func call(_ task: TaskEntry, by session: Session) -> PolicyDecision {
        session.isTrusted ? .allowed : denied
    }

    /// May the session say that it speaks for an origin?
    func nameOrigin(_ session: Session) -> PolicyDecision {
        session.isTrusted ? .allowed : denied
    }

    /// May the session's calls go to a task that another user provides?
    func useProvider(ofUID uid: UInt32, by session: Session) -> PolicyDecision {
        session.isTrusted && trusts(uid: uid) ? .allowed : denied
    }

    /// May the session watch everybody's traffic?
    func monitor(by session: Session) -> PolicyDecision {
        session.isTrusted ? .allowed : denied
    }

    /// May the session have another one closed?
    func close(_ other: Session, by session: Session) -> PolicyDecision {
        other === session || session.isTrusted ? .allowed : denied
    }

    /// May the session have the daemon's configuration read again?
    func reload(by session: Session) -> PolicyDecision {
        session.isTrusted ? .allowed : denied
    }

    private var denied: PolicyDecision {
        .denied(rule: "default: only root and uid \(daemonUID) may do this")
    }
}
