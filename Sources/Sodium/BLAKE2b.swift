internal import CSodium

/// A BLAKE2b hash of 32 bytes in the making: names of things that are looked up, and whether bytes are still the same.
///
/// One thread at a time.
public final class BLAKE2b {
    /// How many bytes the hash has.
    public static let byteCount = 32

    /// At a multiple of 64, as libsodium wants it and no Swift type is.
    private let memory: UnsafeMutableRawPointer
    private var state: OpaquePointer { OpaquePointer(memory) }

    /// Of no bytes yet.
    public init() {
        Sodium.prepare()
        memory = .allocate(byteCount: crypto_generichash_statebytes(), alignment: 64)
        crypto_generichash_init(state, nil, 0, Self.byteCount)
    }

    deinit { memory.deallocate() }

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: They are copied.
    public func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        crypto_generichash_update(state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    /// The hash of all bytes. Ends the hash.
    public func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_final(state, &hash, hash.count)
        return hash
    }

    /// The hash of some bytes.
    ///
    /// - Parameter bytes: The bytes.
    public static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let hash = BLAKE2b()
        Array(bytes).withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }
}
