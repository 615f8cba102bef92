import BridgeJSON

/// The owner of a provider: without a rule that allows serving others, a provider receives only calls of its own user.
/// A provider that represents an origin receives only calls of the same user for the same origin.
struct ProviderOwner: Hashable {
    let uid: UInt32
    /// The origin; `nil` for local programs.
    let origin: ExactText?

    init(uid: UInt32, origin: String) {
        self.init(uid: uid, origin: origin.isExactly(Session.localOrigin) ? nil : ExactText(origin))
    }

    private init(uid: UInt32, origin: ExactText?) { (self.uid, self.origin) = (uid, origin) }

    /// The owner for the same user's local programs.
    var local: ProviderOwner { ProviderOwner(uid: uid, origin: nil) }
}
