import CSodium
import Sodium
import Glibc

/// The cost of computing a password hash.
struct PasswordCost: Sendable, Hashable {
    /// The number of passes over the memory.
    var operations: UInt64
    /// The memory that one computation uses.
    var memoryBytes: Int

    /// libsodium's recommendation for interactive use: 64 MiB, well under 0.1 s.
    static let interactive = PasswordCost(
        operations: UInt64(crypto_pwhash_OPSLIMIT_INTERACTIVE), memoryBytes: Int(crypto_pwhash_MEMLIMIT_INTERACTIVE))

    /// libsodium's middle recommendation: 256 MiB, well under 1 s.
    static let moderate = PasswordCost(
        operations: UInt64(crypto_pwhash_OPSLIMIT_MODERATE), memoryBytes: Int(crypto_pwhash_MEMLIMIT_MODERATE))

    /// The minimum that libsodium accepts; for tests.
    static let minimum = PasswordCost(
        operations: UInt64(crypto_pwhash_OPSLIMIT_MIN), memoryBytes: Int(crypto_pwhash_MEMLIMIT_MIN))
}

/// A password as it is stored: the algorithm, its parameters, the salt and the hash in one line of ASCII.
struct PasswordHash: Sendable, Hashable {
    let text: String
}

/// The reason why a password was neither accepted nor refused.
struct HashingFailure: Error, Sendable, Hashable, CustomStringConvertible {
    let description: String

    static let noMemory = HashingFailure(description: "there is not enough memory to compute a password's hash")
    static let damaged = HashingFailure(description: "the stored hash of the password cannot be read")
}

/// Hashes and checks passwords with argon2id, by libsodium. `hash` and `verify` take long: never on the loop.
struct PasswordHasher: Sendable {
    /// The maximum length of a password, in bytes: far more than any user types, and little work before hashing.
    static let maximumPasswordBytes = 1024

    let cost: PasswordCost

    /// A hash that matches no password and costs as much to check as a new one. The password of an unknown user is
    /// checked against it, so that the time does not show whether the user exists.
    let dummy: PasswordHash

    init(cost: PasswordCost) {
        Sodium.prepare()
        self.cost = cost
        // The parts are random, not computed: the form is the same, and creating it costs nothing.
        dummy = PasswordHash(
            text: "$argon2id$v=19$m=\(cost.memoryBytes / 1024),t=\(cost.operations),p=1$"
                + "\(Self.randomBase64(byteCount: Int(crypto_pwhash_SALTBYTES)))$\(Self.randomBase64(byteCount: 32))")
    }

    /// Returns the hash of a password, with a new salt.
    ///
    /// - Throws: `HashingFailure.noMemory`.
    func hash(_ password: Secret) throws(HashingFailure) -> PasswordHash {
        var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
        let status = password.withBytes { bytes in
            crypto_pwhash_str(&text, bytes, UInt64(password.count), cost.operations, cost.memoryBytes)
        }
        if status != 0 { throw .noMemory }
        return PasswordHash(text: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// Whether the hash matches the password.
    ///
    /// - Throws: `HashingFailure` if the check was not possible.
    func verify(_ password: Secret, _ hash: PasswordHash) throws(HashingFailure) -> Bool {
        errno = 0
        let status = password.withBytes { bytes in
            crypto_pwhash_argon2id_str_verify(hash.text, bytes, UInt64(password.count))
        }
        if status == 0 { return true }
        // libsodium has one status for a wrong password and for failures; `errno` distinguishes them.
        switch errno {
        case EINVAL: return false
        case ENOMEM: throw .noMemory
        default: throw .damaged
        }
    }

    /// Whether the hash was computed at another cost than the current one.
    func needsRehash(_ hash: PasswordHash) -> Bool {
        crypto_pwhash_str_needs_rehash(hash.text, cost.operations, cost.memoryBytes) != 0
    }

    private static func randomBase64(byteCount: Int) -> String {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        randombytes_buf(&bytes, bytes.count)
        return Base64.encode(bytes, .standardUnpadded)
    }
}
