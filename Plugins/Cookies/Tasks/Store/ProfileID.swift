import HTTPRules
import TaskKit

/// A set of cookies of a user.
struct ProfileID: Hashable, Sendable {
    /// Whose it is.
    let uid: UInt32
    /// Its name: `default`, or another; one that begins with `private:` is kept in memory only.
    var name: String { profile.text }

    private let profile: ProfileName

    /// The profile that is meant where none is named.
    static func standard(of uid: UInt32) -> ProfileID { ProfileID(uid: uid, .standard) }

    private init(uid: UInt32, _ profile: ProfileName) { (self.uid, self.profile) = (uid, profile) }

    /// A profile by the name that a caller gives.
    ///
    /// - Parameters:
    ///   - uid: Whose it is.
    ///   - name: The name; nil stands for `default`.
    /// - Throws: `options.invalid`, where the name is none.
    init(uid: UInt32, naming name: String?) throws(BridgeError) {
        guard let name else {
            self = .standard(of: uid)
            return
        }
        guard let profile = ProfileName(name) else {
            throw .unfit(
                "$.profile", expected: ProfileName.form, got: "a string of \(name.utf8.count) bytes that is none")
        }
        self.init(uid: uid, profile)
    }

    /// A profile that is stored.
    init(stored name: String, of uid: UInt32) { self.init(uid: uid, ProfileName(stored: name)) }

    /// Whether it is kept in memory only.
    var isPrivate: Bool { profile.isPrivate }
}
