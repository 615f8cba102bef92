internal import Sodium

/// The hash of a body that arrives in parts.
public struct IntegrityHash {
    private enum State {
        case sha256(SHA256)
        case sha512(SHA512)
    }

    private var state: State

    /// Creates a hash of no bytes.
    ///
    /// - Parameter algorithm: The hash function.
    public init(_ algorithm: IntegrityMetadata.Algorithm) {
        state =
            switch algorithm {
            case .sha256: .sha256(SHA256())
            case .sha384: .sha512(SHA512(.bits384))
            case .sha512: .sha512(SHA512(.bits512))
            }
    }

    /// Adds the next bytes, after content decoding.
    ///
    /// - Parameter bytes: The bytes, which are not kept.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .sha256(var hash):
            hash.update(bytes)
            state = .sha256(hash)
        case .sha512(var hash):
            hash.update(bytes)
            state = .sha512(hash)
        }
    }

    /// Returns the hash of all bytes, and ends the hash.
    public mutating func finish() -> [UInt8] {
        switch state {
        case .sha256(var hash): hash.finishBytes()
        case .sha512(var hash): hash.finish()
        }
    }
}
