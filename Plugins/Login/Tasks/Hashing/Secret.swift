import CSodium
import Sodium

/// The bytes of a password or token, in memory of our own that is overwritten when the last reference goes.
///
/// It cannot be printed: its description, and what `dump` shows, say only that it is a secret. The string out of which
/// it is made is the caller's, and lies beyond our reach.
///
/// `@unchecked`: the memory is written before the initializer returns, and only read until `deinit`.
final class Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
    @unchecked Sendable  // written before the initializer returns, only read until `deinit`
{
    /// Of at least one byte: an empty secret has an address, too.
    private let memory: UnsafeMutablePointer<CChar>

    /// How many bytes it has.
    let count: Int

    init(_ text: String) {
        Sodium.prepare()
        count = text.utf8.count
        memory = .allocate(capacity: max(1, count))
        for (offset, byte) in text.utf8.enumerated() {
            (memory + offset).initialize(to: CChar(bitPattern: byte))
        }
    }

    deinit {
        sodium_memzero(memory, count)
        memory.deallocate()
    }

    /// The bytes as C wants them, `count` of them. They must not leave `body`.
    func withBytes<T>(_ body: (UnsafePointer<CChar>) -> T) -> T {
        withExtendedLifetime(self) { body(memory) }
    }

    /// The secret as a string, for who has a right to it: the client that brought it.
    var text: String {
        withBytes { bytes in
            String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }

    var description: String { "(secret)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
