import Dispatch
import Glibc

/// libdispatch's main queue, which `@MainActor` code of plugins runs on, served by the main thread: the loop has a
/// thread of its own.
///
/// `dispatchMain()` would end the main thread, leave the queue to any other, and park the process's first thread in a
/// way that valgrind does not survive. Here it stays, and waits for the queue as the run loop of Foundation does.
public enum MainQueue {
    /// Never returns. The main thread only.
    public static func serve() -> Never {
        guard let descriptor = wakeUpDescriptor, drain != nil else { dispatchMain() }
        while true {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, -1) == 1 else { continue }
            runPending()
        }
    }

    /// Becomes readable when there is something in the queue, for a loop that watches other descriptors too. Nil: this
    /// libdispatch does not report it.
    public static let wakeUpDescriptor: Int32? = {
        guard let symbol = dlsym(program, "_dispatch_get_main_queue_handle_4CF") else { return nil }
        typealias Function = @convention(c) () -> Int32
        // libdispatch exports it for run loops, with this signature on Linux, but declares it in no public header.
        return unsafeBitCast(symbol, to: Function.self)()
    }()

    /// Runs what is in the queue. The main thread only, and never within something that the queue runs.
    public static func runPending() {
        guard let wakeUpDescriptor else { return }
        // The queue counts its wake-ups in there. It is read first: one that comes while the queue is drained must
        // lead to another round.
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

    /// This program with the libraries that it is linked with.
    private static var program: UnsafeMutableRawPointer? { dlopen(nil, RTLD_NOW) }
}
