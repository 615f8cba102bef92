import BridgeJSON
public import Sodium

/// A public key of packages, as text: `ed25519:` and 32 bytes in base 64.
public struct PackageKey: Hashable, Sendable, CustomStringConvertible {
    private static let mark = "ed25519:"

    /// The key.
    public let key: VerifyingKey

    /// The text of the key.
    public var description: String { Self.mark + KeyText.base64(key.bytes) }

    init(_ key: VerifyingKey) { self.key = key }

    /// The key of a text; nil where it is none.
    ///
    /// - Parameter text: What ``description`` is.
    public init?(_ text: String) {
        guard let key = KeyText.bytes(text, behind: Self.mark).flatMap(VerifyingKey.init) else { return nil }
        self.key = key
    }
}

/// A secret key of packages. Its text is `ed25519-secret:` and 32 bytes in base 64.
public struct PackageSecretKey: Sendable {
    private static let mark = "ed25519-secret:"

    /// The key.
    let key: SigningKey

    /// A new key.
    public init() { key = SigningKey() }

    /// The key of a text; nil where it is none.
    ///
    /// - Parameter text: What ``text`` is; white space behind it does not count.
    public init?(_ text: String) {
        guard let key = KeyText.bytes(text, behind: Self.mark).flatMap(SigningKey.init) else { return nil }
        self.key = key
    }

    /// The text of the key, without a line end. It is secret.
    public var text: String { Self.mark + KeyText.base64(key.seed) }
    /// The key that verifies what this one signs.
    public var publicKey: PackageKey { PackageKey(key.verifyingKey) }
}

/// Bytes as text in keys and signatures.
enum KeyText {
    static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(_ text: String, behind mark: String = "") -> [UInt8]? {
        guard text.hasPrefix(mark) else { return nil }
        var rest = Array(text.utf8.dropFirst(mark.utf8.count))
        while let last = rest.last, " \r\n\t".utf8.contains(last) { rest.removeLast() }
        return rest.withUnsafeBytes { Base64Coding.decode($0) }
    }
}
