import BridgeJSON
public import Sodium

/// A public key of packages. Its text is `ed25519:` and 32 bytes in base64.
public struct PackageKey: Hashable, Sendable, CustomStringConvertible {
    private static let mark = "ed25519:"

    /// The key.
    public let key: VerifyingKey

    /// The text of the key.
    public var description: String { Self.mark + KeyText.base64(key.bytes) }

    init(_ key: VerifyingKey) { self.key = key }

    /// Parses a key; `nil` if the text is not a key.
    ///
    /// - Parameter text: A text as in ``description``; trailing white space is ignored.
    public init?(_ text: String) {
        guard let key = KeyText.bytes(text, after: Self.mark).flatMap(VerifyingKey.init) else { return nil }
        self.key = key
    }
}

/// A secret key of packages. Its text is `ed25519-secret:` and 32 bytes in base64.
public struct PackageSecretKey: Sendable {
    private static let mark = "ed25519-secret:"

    /// The key.
    let key: SigningKey

    /// Creates a new key.
    public init() { key = SigningKey() }

    /// Parses a key; `nil` if the text is not a key.
    ///
    /// - Parameter text: A text as in ``text``; trailing white space is ignored.
    public init?(_ text: String) {
        guard let key = KeyText.bytes(text, after: Self.mark).flatMap(SigningKey.init) else { return nil }
        self.key = key
    }

    /// The text of the key, without a line end. It is secret.
    public var text: String { Self.mark + KeyText.base64(key.seed) }
    /// The key that verifies signatures of this one.
    public var publicKey: PackageKey { PackageKey(key.verifyingKey) }
}

/// The text form of bytes in keys and signatures.
enum KeyText {
    static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(_ text: String, after mark: String = "") -> [UInt8]? {
        guard text.hasPrefix(mark) else { return nil }
        var rest = Array(text.utf8.dropFirst(mark.utf8.count))
        while let last = rest.last, " \r\n\t".utf8.contains(last) { rest.removeLast() }
        return rest.withUnsafeBytes { Base64Coding.decode($0) }
    }
}
