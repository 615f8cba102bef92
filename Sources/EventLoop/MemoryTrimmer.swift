import EventLoop

/// Keeps the memory of large messages for the next ones, and gives it back every two seconds while there are such, and
/// so soon after the last. What sessions have had is given back in the same way, once they have gone.
@LoopActor
final class MessageMemory {
    /// From this size on a message is a large one: what the C library would give back at once is twice that.
    static let largeBytes = 64 * 1024
    /// Room for a few of the largest that clients may send: input, options and output of each.
    private static let keptBytes = 16 << 20
    private static let delay = Duration.seconds(2)

    private var timer: LoopTimer?
    private let release: () -> Void

    /// - Parameter release: Frees what is held in reserve. Called on the loop, between its turns.
    init(release: @escaping () -> Void) {
        self.release = release
        FreedMemory.keep(upToBytes: Self.keptBytes)
    }

    /// A large message has been read or written, or a connection has gone.
    func noteFreed() {
        guard timer == nil else { return }
        let timer = LoopTimer { [weak self] in self?.trim() }
        timer.schedule(after: Self.delay)
        self.timer = timer
    }

    private func trim() {
        close()
        release()
        Task.detached { FreedMemory.trim() }
    }

    func close() {
        timer?.close()
        timer = nil
    }
}
