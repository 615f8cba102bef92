internal import CSodium

/// A secret Ed25519 key (RFC 8032), which signs.
public struct SigningKey: Sendable {
    /// The size of a seed in bytes.
    public static let seedByteCount = Int(crypto_sign_ed25519_SEEDBYTES)

    /// The seed of the key. It is secret.
    public let seed: [UInt8]
    /// The public key that verifies the signatures.
    public let verifyingKey: VerifyingKey
    private let secret: [UInt8]

    /// Creates a new key.
    public init() {
        Sodium.prepare()
        var seed = [UInt8](repeating: 0, count: Self.seedByteCount)
        randombytes_buf(&seed, seed.count)
        self.init(checkedSeed: seed)
    }

    /// Creates the key of a seed; `nil` if the seed has another length.
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

    /// Returns the signature of a message, which is always the same for the same message.
    ///
    /// - Parameter message: Any bytes.
    /// - Returns: ``VerifyingKey/signatureByteCount`` bytes.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: VerifyingKey.signatureByteCount)
        crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secret)
        return signature
    }
}

/// A public Ed25519 key (RFC 8032), which verifies signatures.
public struct VerifyingKey: Hashable, Sendable {
    /// The size of a key in bytes.
    public static let byteCount = Int(crypto_sign_ed25519_PUBLICKEYBYTES)
    /// The size of a signature in bytes.
    public static let signatureByteCount = Int(crypto_sign_ed25519_BYTES)

    /// The bytes of the key.
    public let bytes: [UInt8]

    /// Creates a key from its bytes; `nil` if their number is different.
    ///
    /// - Parameter bytes: ``byteCount`` bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        Sodium.prepare()
        self.bytes = bytes
    }

    fileprivate init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// Returns whether a signature of the message was made with this key.
    ///
    /// - Parameters:
    ///   - signature: The signature.
    ///   - message: The signed bytes.
    public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount else { return false }
        return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), bytes) == 0
    }
}
