import CLibuv

/// Keeps the memory of large messages for the next ones. Returns it to the kernel every two seconds while there are
/// large messages, and two seconds after the last. The memory of closed sessions is returned in the same way.
///
/// By default the C library returns every block of more than 128 KiB and requests it again for the next one. For each
/// message of a megabyte the kernel would clear and map a thousand pages, which takes longer than all other work on the
/// message.
@LoopActor
public final class MemoryTrimmer {
    /// The size above which a message is large: half of the size from which the C library returns memory in one step.
    public static let largeBytes = 64 * 1024
    /// The memory that each heap of the C library keeps: enough for a few of the largest messages, with input, options
    /// and output of each.
    private static let keptBytes: Int32 = 16 << 20
    private static let delay = Duration.seconds(2)

    private var timer: LoopTimer?
    private let release: () -> Void

    /// Creates a trimmer, and makes the C library keep freed memory.
    /// - Parameter release: Frees reserved memory. Called on the loop, between its turns.
    public init(release: @escaping () -> Void) {
        self.release = release
        clibuv_keep_freed_memory(Self.keptBytes)
    }

    /// Schedules a trim. Called when a large message has been read or written, or a connection has closed.
    public func noteFreed() {
        guard timer == nil else { return }
        let timer = LoopTimer { [weak self] in self?.trim() }
        timer.schedule(after: Self.delay)
        self.timer = timer
    }

    private func trim() {
        close()
        release()
        // Takes milliseconds. Other threads that allocate may have to wait during that time.
        Task.detached { clibuv_return_freed_memory() }
    }

    /// Cancels the scheduled trim.
    public func close() {
        timer?.close()
        timer = nil
    }
}
