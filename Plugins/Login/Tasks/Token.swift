import CSodium
import Sodium

/// A secret that a client keeps to log in again without a password: 32 random bytes in base64url.
struct Token: Sendable {
    /// Enough bytes to make guessing hopeless.
    private static let randomBytes = 32

    /// The text that the client receives and later sends back.
    let text: String

    /// The hash by which the token is stored.
    let hash: TokenHash

    /// Creates a new random token.
    init() {
        Sodium.prepare()
        var bytes = [UInt8](repeating: 0, count: Self.randomBytes)
        randombytes_buf(&bytes, bytes.count)
        text = Base64.encode(bytes, .urlSafeUnpadded)
        hash = TokenHash(of: bytes)
        sodium_memzero(&bytes, bytes.count)
    }

    /// Returns the hash of a token that a client sent; `nil` if it does not have the form of a token.
    static func hash(of secret: Secret) -> TokenHash? {
        var bytes = [UInt8](repeating: 0, count: randomBytes)
        defer { sodium_memzero(&bytes, bytes.count) }
        var count = 0
        let status = secret.withBytes { text in
            // Not through a `String`, which would leave copies of the secret in memory.
            sodium_base642bin(
                &bytes, bytes.count, text, secret.count, nil, &count, nil, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
        }
        guard status == 0, count == randomBytes else { return nil }
        return TokenHash(of: bytes)
    }
}

/// The stored form of a token. The token cannot be computed from it.
struct TokenHash: Sendable, Hashable {
    let bytes: [UInt8]

    /// Creates a hash from stored bytes; `nil` if the length is not that of a hash.
    init?(bytes: [UInt8]) {
        guard bytes.count == Int(crypto_generichash_BYTES) else { return nil }
        self.bytes = bytes
    }

    /// Hashes without salt or cost: 32 random bytes cannot be guessed.
    fileprivate init(of token: [UInt8]) {
        var hash = [UInt8](repeating: 0, count: Int(crypto_generichash_BYTES))
        crypto_generichash(&hash, hash.count, token, UInt64(token.count), nil, 0)
        bytes = hash
    }
}
