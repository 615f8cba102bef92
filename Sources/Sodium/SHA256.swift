internal import CSodium

/// A SHA-256 hash in the making: whether a file arrived as it was sent.
public struct SHA256: Sendable {
    private var state = crypto_hash_sha256_state()

    /// Of no bytes yet.
    public init() {
        Sodium.prepare()
        crypto_hash_sha256_init(&state)
    }

    /// Takes the next bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        crypto_hash_sha256_update(&state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    /// The hash of all bytes, in 64 hexadecimal digits of small letters. Ends the hash.
    public mutating func finish() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: finishBytes().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The hash of all bytes, 32 of them. Ends the hash.
    public mutating func finishBytes() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256_final(&state, &hash)
        return hash
    }
}
