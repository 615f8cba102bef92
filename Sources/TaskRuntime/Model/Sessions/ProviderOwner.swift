import BridgeJSON

/// Whose calls come to a provider without a rule that lets it serve others: its user's. A page is not its user: to one
/// that speaks for an origin come those of the same user that speak for the same origin.
struct ProviderOwner: Hashable {
    let uid: UInt32
    /// Nil: local programs.
    let origin: ExactText?

    init(uid: UInt32, origin: String) {
        self.init(uid: uid, origin: origin.isExactly(Session.localOrigin) ? nil : ExactText(origin))
    }

    private init(uid: UInt32, origin: ExactText?) { (self.uid, self.origin) = (uid, origin) }

    /// The same user's local programs.
    var local: ProviderOwner { ProviderOwner(uid: uid, origin: nil) }
}
