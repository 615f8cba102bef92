internal import CSodium

/// An incremental BLAKE2b hash of 32 bytes, for lookup keys and for the comparison of contents.
///
/// One thread at a time.
public final class BLAKE2b {
    /// The size of the hash in bytes.
    public static let byteCount = 32

    /// Aligned to 64 bytes, which libsodium requires and no Swift type provides.
    private let memory: UnsafeMutableRawPointer
    private var state: OpaquePointer { OpaquePointer(memory) }

    /// Begins a hash.
    public init() {
        Sodium.prepare()
        memory = .allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        crypto_generichash_init(state, nil, 0, Self.byteCount)
    }

    deinit { memory.deallocate() }

    /// Adds bytes.
    ///
    /// - Parameter bytes: The bytes to add.
    public func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        crypto_generichash_update(state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    /// Returns the hash of all bytes. No bytes can be added after that.
    public func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_final(state, &hash, hash.count)
        return hash
    }

    /// Returns the hash of a sequence of bytes.
    ///
    /// - Parameter bytes: The bytes.
    public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let hash = BLAKE2b()
        Array(bytes).withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }
}
