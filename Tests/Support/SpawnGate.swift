import Synchronization

/// A lock for writing a file and for starting a process. Between fork and exec a child has the descriptors of all
/// tests; a script that is open for writing there cannot be started (ETXTBSY).
enum SpawnGate {
    private static let gate = Mutex(())

    static func pass<T: ~Copyable>(_ body: () throws -> T) throws -> T { try gate.withLock { _ in try body() } }
}
