import TaskKit

/// A set of cookies of a user.
struct ProfileID: Hashable, Sendable {
    /// Whose it is.
    let uid: UInt32
    /// Its name: `default`, or another; one that begins with `private:` is kept in memory only.
    let name: String

    /// The most bytes of a name, the prefix not counted.
    static let maximumNameBytes = 64
    private static let privatePrefix = "private:"

    /// The profile that is meant where none is named.
    static func standard(of uid: UInt32) -> ProfileID { ProfileID(uid: uid, checked: "default") }

    private init(uid: UInt32, checked name: String) { (self.uid, self.name) = (uid, name) }

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
        let rest = name.hasPrefix(Self.privatePrefix) ? name.dropFirst(Self.privatePrefix.count) : name[...]
        let isName =
            (1...Self.maximumNameBytes).contains(rest.utf8.count)
            && rest.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        guard isName else {
            throw .unfit(
                "$.profile", expected: "1 to \(Self.maximumNameBytes) letters, digits, -, _ and ., private: in front",
                got: "a string of \(name.utf8.count) bytes that is none")
        }
        self.init(uid: uid, checked: name)
    }

    /// A profile that is stored.
    init(stored name: String, of uid: UInt32) { self.init(uid: uid, checked: name) }

    /// Whether it is kept in memory only.
    var isPrivate: Bool { name.hasPrefix(Self.privatePrefix) }
}
