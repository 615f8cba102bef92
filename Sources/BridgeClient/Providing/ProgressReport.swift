// Progress of provided tasks, on its way from any thread to the loop. It never waits, and always comes before the
// result.

import BridgeMessage
import EventLoop
import Synchronization

/// Where the progress of one call goes.
final class ProgressReport: Sendable {
    private let connection: ClientConnection
    /// The text of the call's id.
    private let id: [UInt8]
    private let isOver = Atomic<Bool>(false)
    /// Counts the call's progress from 0. Changed on the loop alone.
    private let sequence = Atomic<UInt64>(0)

    init(_ connection: ClientConnection, id: [UInt8]) {
        self.connection = connection
        self.id = id
    }

    /// Returns whether it is sent: not once the call has ended, nor while the daemon does not read. Any thread.
    func send(_ value: [UInt8]) -> Bool {
        guard !isOver.load(ordering: .relaxed), connection.progressRoom.take(value.count) else { return false }
        // The loop runs what is posted in order: what a handler reports comes before the result that it returns.
        EventLoop.post { self.write(value) }
        return true
    }

    @LoopActor
    private func write(_ value: [UInt8]) {
        connection.progressRoom.release(value.count)
        let number = sequence.add(1, ordering: .relaxed).oldValue
        connection.send { output in
            id.withUnsafeBytes { id in
                value.withUnsafeBytes { MessageEncoder.progress(id: id, value: $0, sequence: number, to: output) }
            }
        }
    }

    /// The call has ended, or no one waits for it any longer. Any thread.
    func end() { isOver.store(true, ordering: .relaxed) }
}
