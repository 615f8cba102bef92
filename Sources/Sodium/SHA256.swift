internal import CSodium

/// An incremental SHA-256 hash, for the check that a file arrived unchanged.
public struct SHA256: Sendable {
    private var state = crypto_hash_sha256_state()

    /// Begins a hash.
    public init() {
        Sodium.prepare()
        crypto_hash_sha256_init(&state)
    }

    /// Adds bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        crypto_hash_sha256_update(&state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    /// Returns the hash of all bytes as 64 lower-case hexadecimal digits. No bytes can be added after that.
    public mutating func finish() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: finishBytes().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the hash of all bytes, 32 bytes long. No bytes can be added after that.
    public mutating func finishBytes() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256_final(&state, &hash)
        return hash
    }
}
