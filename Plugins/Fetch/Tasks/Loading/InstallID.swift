import Synchronization
import TaskKit

/// A random name of this installation, created at the first request for it. Any thread.
final class InstallID: Sendable {
    private struct State {
        var id: String?
        var onMake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var text: String {
        let (text, onMake) = state.withLock { state -> (String, (@Sendable () -> Void)?) in
            if let id = state.id { return (id, nil) }
            let made = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
            state.id = made
            return (made, state.onMake)
        }
        onMake?()
        return text
    }

    /// Sets the closure to call when a new name was created.
    func whenMade(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onMake = body } }

    /// The bytes to store; empty if no name was created.
    var saved: [UInt8] { state.withLock { Array(($0.id ?? "").utf8) } }

    /// Restores a stored name.
    func take(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.filter { $0 > 0x20 }.prefix(64), as: UTF8.self)
        if !text.isEmpty { state.withLock { $0.id = text } }
    }
}
