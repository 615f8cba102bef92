import CSodium
import Sodium

/// The bytes of a password or token, in its own memory, which is overwritten when the last reference is released.
///
/// It cannot be printed: its description and the output of `dump` state only that it is a secret. The string from which
/// it is created belongs to the caller; this class cannot overwrite it.
///
/// `@unchecked`: the memory is written before the initializer returns, and only read until `deinit`.
final class Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
    @unchecked Sendable  // written before the initializer returns, only read until `deinit`
{
    /// At least one byte: an empty secret has an address, too.
    private let memory: UnsafeMutablePointer<CChar>

    /// The number of bytes.
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

    /// Calls `body` with the bytes, `count` of them, in the form for C. The pointer must not leave `body`.
    func withBytes<T>(_ body: (UnsafePointer<CChar>) -> T) -> T {
        withExtendedLifetime(self) { body(memory) }
    }

    /// The secret as a string, only for the client that sent it.
    var text: String {
        withBytes { bytes in
            String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }

    var description: String { "(secret)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
