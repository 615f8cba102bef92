// Sodium: what more than one module needs of libsodium: SHA-2 and BLAKE2b, for bytes that travel or are kept.

internal import CSodium

/// libsodium, made ready once. Whatever calls it comes through here first.
public enum Sodium {
    /// Makes libsodium ready. Any thread; after the first time it costs a comparison.
    ///
    /// It fails only where the system has no source of random bytes, and then there is no safe way to go on.
    public static func prepare() {
        precondition(isReady, "libsodium could not be made ready: the system gives no random bytes.")
    }

    private static let isReady = sodium_init() >= 0
}
