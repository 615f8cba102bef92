internal import CSodium

/// A secret key of ed25519 (RFC 8032), which signs.
public struct SigningKey: Sendable {
    /// How many bytes a seed has.
    public static let seedByteCount = Int(crypto_sign_ed25519_SEEDBYTES)

    /// What the key is made of. It is secret.
    public let seed: [UInt8]
    /// The public key that verifies the signatures.
    public let verifyingKey: VerifyingKey
    private let secret: [UInt8]

    /// A new key.
    public init() {
        Sodium.prepare()
        var seed = [UInt8](repeating: 0, count: Self.seedByteCount)
        randombytes_buf(&seed, seed.count)
        self.init(checkedSeed: seed)
    }

    /// The key of a seed; nil where that has another length.
    ///
    /// - Parameter seed: ``seedByteCount`` bytes.
    public init?(seed: [UInt8]) {
        guard seed.count == Self.seedByteCount else { return nil }
        Sodium.prepare()
        self.init(checkedSeed: seed)
    }

    private init(checkedSeed seed: [UInt8]) {
        var open = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_PUBLICKEYBYTES))
        var secret = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SECRETKEYBYTES))
        crypto_sign_ed25519_seed_keypair(&open, &secret, seed)
        self.seed = seed
        self.secret = secret
        verifyingKey = VerifyingKey(checked: open)
    }

    /// The signature of a message. The same message always gets the same.
    ///
    /// - Parameter message: Any bytes.
    /// - Returns: ``VerifyingKey/signatureByteCount`` bytes.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: VerifyingKey.signatureByteCount)
        crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secret)
        return signature
    }
}

/// A public key of ed25519 (RFC 8032), which verifies signatures.
public struct VerifyingKey: Hashable, Sendable {
    /// How many bytes a key has.
    public static let byteCount = Int(crypto_sign_ed25519_PUBLICKEYBYTES)
    /// How many bytes a signature has.
    public static let signatureByteCount = Int(crypto_sign_ed25519_BYTES)

    /// The key.
    public let bytes: [UInt8]

    /// The key of these bytes; nil where they have another length.
    ///
    /// - Parameter bytes: ``byteCount`` bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        Sodium.prepare()
        self.bytes = bytes
    }

    fileprivate init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// Whether a signature is this key's, of this message.
    ///
    /// - Parameters:
    ///   - signature: The signature.
    ///   - message: What is signed.
    public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount else { return false }
        return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), bytes) == 0
    }
}
