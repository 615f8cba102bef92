import CLibuv

/// Reports when a descriptor can be read or written: for libraries that read and write themselves.
///
/// The loop keeps an open watcher alive: the owner must call `close()` before it closes the descriptor.
@LoopActor
public final class DescriptorWatcher {
    private var ready: (@LoopActor () -> Void)?
    private var handle: LoopHandle<uv_poll_t>?
    /// The `uv_poll_event` bits that libuv currently watches.
    private var watched: UInt32 = 0
    /// Whether the descriptor could be read and written at the last call of `ready`; both are true if it is broken.
    public private(set) var readiness = (readable: false, writable: false)

    /// Creates a watcher that watches for nothing yet. The owner of the descriptor keeps it; libuv makes it
    /// non-blocking.
    /// - Parameter ready: Called in every turn in which the descriptor can be read or written as requested, or is
    ///   broken.
    /// - Throws: `EPERM` if it cannot be polled (a file), `EEXIST` if it is being watched already.
    public init(_ descriptor: Int32, _ ready: @escaping @LoopActor () -> Void) throws(SystemError) {
        let handle = try LoopHandle<uv_poll_t>("watch a descriptor") { uv_poll_init($0, $1, descriptor) }
        self.ready = ready
        self.handle = handle
        handle.retain(self)
    }

    /// Replaces the conditions to watch for.
    public func watch(readable: Bool, writable: Bool) {
        let wanted = (readable ? UV_READABLE.rawValue : 0) | (writable ? UV_WRITABLE.rawValue : 0)
        guard let handle, wanted != watched else { return }
        watched = wanted
        if wanted == 0 {
            require(uv_poll_stop(handle.raw), "uv_poll_stop")
        } else {
            require(uv_poll_start(handle.raw, Int32(wanted), Self.isReady), "uv_poll_start")
        }
    }

    /// Stops watching. Further calls do nothing.
    public func close() {
        handle?.close()
        handle = nil
        ready = nil
    }

    private static let isReady: uv_poll_cb = { handle, status, events in
        guard let watcher = owner(handle?.pointee.data, as: DescriptorWatcher.self) else { return }
        let events = status < 0 ? ~0 : UInt32(truncatingIfNeeded: events)
        LoopActor.assumeIsolated {
            watcher.readiness = (events & UV_READABLE.rawValue != 0, events & UV_WRITABLE.rawValue != 0)
            watcher.ready?()
        }
    }
}
