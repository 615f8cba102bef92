import CLibuv

/// Keeps the memory that large messages used for the next ones, and returns it to the kernel every two seconds while
/// there are such, and two seconds after the last. What sessions used is returned in the same way after they have gone.
///
/// The C library by itself returns every block of more than 128 KiB and requests it again for the next one: with each
/// message of a megabyte, the kernel then clears and maps a thousand pages, which takes longer than all else that is
/// done with it.
@LoopActor
public final class MemoryTrimmer {
    /// A message is large from this size on: the C library would return twice as much in one step.
    public static let largeBytes = 64 * 1024
    /// Room in each heap of the C library for a few of the largest messages: input, options and output of each.
    private static let keptBytes: Int32 = 16 << 20
    private static let delay = Duration.seconds(2)

    private var timer: LoopTimer?
    private let release: () -> Void

    /// - Parameter release: Frees what is held in reserve. Called on the loop, between its turns.
    public init(release: @escaping () -> Void) {
        self.release = release
        clibuv_keep_freed_memory(Self.keptBytes)
    }

    /// A large message has been read or written, or a connection has gone.
    public func noteFreed() {
        guard timer == nil else { return }
        let timer = LoopTimer { [weak self] in self?.trim() }
        timer.schedule(after: Self.delay)
        self.timer = timer
    }

    private func trim() {
        close()
        release()
        // Takes milliseconds. Other threads that allocate may have to wait meanwhile.
        Task.detached { clibuv_return_freed_memory() }
    }

    /// Nothing is returned any more.
    public func close() {
        timer?.close()
        timer = nil
    }
}
