import Dispatch
import Glibc

/// libdispatch's main queue, on which `@MainActor` code of plugins runs. The main thread serves it, because the loop
/// has its own thread.
///
/// `dispatchMain()` would end the main thread, let any other thread serve the queue, and park the process's first
/// thread in a way that crashes valgrind. Here the main thread stays, and waits for the queue like the run loop of
/// Foundation.
public enum MainQueue {
    /// Serves the queue. Never returns. Main thread only.
    public static func serve() -> Never {
        guard let descriptor = wakeUpDescriptor, drain != nil else { dispatchMain() }
        while true {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, -1) == 1 else { continue }
            runPending()
        }
    }

    /// A descriptor that becomes readable when the queue is not empty, for a loop that also watches other descriptors;
    /// `nil` if this libdispatch does not provide it.
    public static let wakeUpDescriptor: Int32? = {
        guard let symbol = dlsym(program, "_dispatch_get_main_queue_handle_4CF") else { return nil }
        typealias Function = @convention(c) () -> Int32
        // libdispatch exports it for run loops, with this signature on Linux, but declares it in no public header.
        return unsafeBitCast(symbol, to: Function.self)()
    }()

    /// Runs the jobs in the queue. Main thread only, and never within a job of the queue.
    public static func runPending() {
        guard let wakeUpDescriptor else { return }
        // The descriptor counts the queue's wake-ups. It is read first: a wake-up that arrives while the queue is
        // drained must cause another round.
        var count: UInt64 = 0
        _ = read(wakeUpDescriptor, &count, MemoryLayout<UInt64>.size)
        drain?(nil)
    }

    private typealias Drain = @Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void

    private static let drain: Drain? = {
        guard let symbol = dlsym(program, "_dispatch_main_queue_callback_4CF") else { return nil }
        // As above.
        return unsafeBitCast(symbol, to: Drain.self)
    }()

    /// The handle of this program and its linked libraries.
    private static var program: UnsafeMutableRawPointer? { dlopen(nil, RTLD_NOW) }
}
