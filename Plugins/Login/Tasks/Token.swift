import CSodium
import Sodium

/// What a client keeps in order to log in again without a password: 32 random bytes, written in base64url.
struct Token: Sendable {
    /// As many as leave no hope of guessing one.
    private static let randomBytes = 32

    /// What the client gets, and brings back.
    let text: String

    /// Under which the token is known here.
    let hash: TokenHash

    /// A new token, which no one has seen before.
    init() {
        Sodium.prepare()
        var bytes = [UInt8](repeating: 0, count: Self.randomBytes)
        randombytes_buf(&bytes, bytes.count)
        text = Base64.encode(bytes, .urlSafeUnpadded)
        hash = TokenHash(of: bytes)
        sodium_memzero(&bytes, bytes.count)
    }

    /// The hash of a token that a client brought. Nil: it is nothing that was ever given out.
    static func hash(of secret: Secret) -> TokenHash? {
        var bytes = [UInt8](repeating: 0, count: randomBytes)
        defer { sodium_memzero(&bytes, bytes.count) }
        var count = 0
        let status = secret.withBytes { text in
            // Not by way of a text, which would leave copies of the secret in memory.
            sodium_base642bin(
                &bytes, bytes.count, text, secret.count, nil, &count, nil, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
        }
        guard status == 0, count == randomBytes else { return nil }
        return TokenHash(of: bytes)
    }
}

/// What is kept of a token. The token cannot be found from it.
struct TokenHash: Sendable, Hashable {
    let bytes: [UInt8]

    /// A hash that was kept; nil: its length is not that of one.
    init?(bytes: [UInt8]) {
        guard bytes.count == Int(crypto_generichash_BYTES) else { return nil }
        self.bytes = bytes
    }

    /// No salt and no cost: there is nothing to guess in 32 random bytes.
    fileprivate init(of token: [UInt8]) {
        var hash = [UInt8](repeating: 0, count: Int(crypto_generichash_BYTES))
        crypto_generichash(&hash, hash.count, token, UInt64(token.count), nil, 0)
        bytes = hash
    }
}
