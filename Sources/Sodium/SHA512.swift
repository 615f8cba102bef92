internal import CSodium

/// An incremental SHA-512 or SHA-384 hash: FIPS 180-4.
///
/// libsodium has only SHA-512. SHA-384 is the same function with other initial values, cut after 48 bytes. libsodium's
/// state is a public structure whose first member contains these values, so they are set here.
public struct SHA512 {
    /// The hash function.
    public enum Length: Int, Sendable {
        /// SHA-384.
        case bits384 = 48
        /// SHA-512.
        case bits512 = 64
    }

    /// The initial values of SHA-384: FIPS 180-4, section 5.3.4.
    private static let initialValuesOfSHA384: [UInt64] = [
        0xCBBB_9D5D_C105_9ED8, 0x629A_292A_367C_D507, 0x9159_015A_3070_DD17, 0x152F_ECD8_F70E_5939,
        0x6733_2667_FFC0_0B31, 0x8EB4_4A87_6858_1511, 0xDB0C_2E0D_64F9_8FA7, 0x47B5_481D_BEFA_4FA4,
    ]

    private var state = crypto_hash_sha512_state()
    private let length: Length

    /// Begins a hash.
    ///
    /// - Parameter length: The hash function.
    public init(_ length: Length = .bits512) {
        Sodium.prepare()
        self.length = length
        crypto_hash_sha512_init(&state)
        guard length == .bits384 else { return }
        withUnsafeMutableBytes(of: &state.state) { values in
            Self.initialValuesOfSHA384.withUnsafeBytes { values.copyMemory(from: $0) }
        }
    }

    /// Adds bytes.
    ///
    /// - Parameter bytes: The bytes to add.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        crypto_hash_sha512_update(&state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    /// Returns the hash of all bytes, 48 or 64 bytes long. No bytes can be added after that.
    public mutating func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha512_BYTES))
        crypto_hash_sha512_final(&state, &hash)
        return Array(hash.prefix(length.rawValue))
    }
}
