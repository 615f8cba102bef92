import HTTPRules
import TaskKit

/// A set of cookies of a user.
struct ProfileID: Hashable, Sendable {
    /// The user of the profile.
    let uid: UInt32
    /// The name: `default` or another. A profile whose name begins with `private:` is kept only in memory.
    var name: String { profile.text }

    private let profile: ProfileName

    /// Returns the default profile, which is used if none is named.
    static func standard(of uid: UInt32) -> ProfileID { ProfileID(uid: uid, .standard) }

    private init(uid: UInt32, _ profile: ProfileName) { (self.uid, self.profile) = (uid, profile) }

    /// Creates a profile from the name that a caller specifies.
    ///
    /// - Parameters:
    ///   - uid: The user.
    ///   - name: The name; `nil` for `default`.
    /// - Throws: `options.invalid`, if the name is invalid.
    init(uid: UInt32, naming name: String?) throws(BridgeError) {
        guard let name else {
            self = .standard(of: uid)
            return
        }
        guard let profile = ProfileName(name) else {
            throw .unfit(
                "$.profile", expected: ProfileName.form, got: "an invalid string of \(name.utf8.count) bytes")
        }
        self.init(uid: uid, profile)
    }

    /// Creates a profile from its stored name.
    init(stored name: String, of uid: UInt32) { self.init(uid: uid, ProfileName(stored: name)) }

    /// Whether the profile is kept only in memory.
    var isPrivate: Bool { profile.isPrivate }
}
