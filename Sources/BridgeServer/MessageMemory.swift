import EventLoop

/// Keeps the memory of large messages for the next ones, and gives it back every two seconds while there are such, and so
/// soon after the last.
@LoopActor
final class MessageMemory {
    /// From this size on a message is a large one: what the C library would give back at once is twice that.
    static let largeBytes = 64 * 1024
    /// Room for a few of the largest that clients may send: input, options and output of each.
    private static let keptBytes = 16 << 20
    private static let delay = Duration.seconds(2)

    private var timer: LoopTimer?

    init() { FreedMemory.keep(upToBytes: Self.keptBytes) }

    /// A large message has been read or written.
    func noteLarge() {
        guard timer == nil else { return }
        let timer = LoopTimer { [weak self] in self?.giveBack() }
        timer.schedule(after: Self.delay)
        self.timer = timer
    }

    private func giveBack() {
        close()
        Task.detached { FreedMemory.giveBack() }
    }

    func close() {
        timer?.close()
        timer = nil
    }
}
