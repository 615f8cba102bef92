import CLibuv

/// Calls a function on the loop when the process receives a signal. While a watcher is open, the signal's default
/// action is disabled.
///
/// The loop keeps an open watcher alive: the owner must call `close()`.
@LoopActor
public final class SignalWatcher {
    private var fire: (@LoopActor () -> Void)?
    private var handle: LoopHandle<uv_signal_t>?

    /// Watches `signal`, such as SIGTERM.
    /// - Throws: `EINVAL` for a signal that cannot be caught.
    public init(_ signal: Int32, _ fire: @escaping @LoopActor () -> Void) throws(SystemError) {
        let handle = try LoopHandle("uv_signal_init", uv_signal_init)
        let status = uv_signal_start(handle.raw, Self.fired, signal)
        if status < 0 {
            handle.close()
            throw SystemError(code: -status, operation: "watch signal", subject: String(signal))
        }
        self.fire = fire
        self.handle = handle
        handle.retain(self)
    }

    /// Stops watching. Further calls do nothing.
    public func close() {
        handle?.close()
        handle = nil
        fire = nil
    }

    private static let fired: uv_signal_cb = { handle, _ in
        guard let watcher = owner(handle?.pointee.data, as: SignalWatcher.self) else { return }
        LoopActor.assumeIsolated { watcher.fire?() }
    }
}
