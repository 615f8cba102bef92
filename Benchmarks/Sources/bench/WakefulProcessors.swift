import Glibc

/// Keeps the machine's idle processors from sleeping while it lives.
///
/// A sleeping processor of a virtual machine takes 20 to 60 µs to run again, and waking it costs the waking process
/// several microseconds of CPU time. How often that happens depends on chance, not on the measured program. The kernel
/// documents the device under "PM Quality of Service"; only root may open it.
struct WakefulProcessors: ~Copyable {
    private let device: Int32

    /// Requests a wake-up latency of zero; `nil` if this user may not, or the kernel cannot.
    init?() {
        let opened = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        // A signed number of microseconds. The request holds until the device is closed.
        var latency: Int32 = 0
        guard write(opened, &latency, MemoryLayout<Int32>.size) == MemoryLayout<Int32>.size else {
            close(opened)
            return nil
        }
        device = opened
    }

    deinit { close(device) }
}
