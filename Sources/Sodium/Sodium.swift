// Sodium: the functions of libsodium that several modules use: SHA-2, BLAKE2b and Ed25519.

internal import CSodium

/// The initialisation of libsodium. All code that calls libsodium calls this first.
public enum Sodium {
    /// Initialises libsodium. Any thread; after the first call it costs only a comparison.
    ///
    /// Fails only if the system has no source of random bytes; then no safe operation is possible.
    public static func prepare() {
        precondition(isReady, "libsodium could not be initialized: the system provides no random bytes.")
    }

    private static let isReady = sodium_init() >= 0
}
