// Sends the progress of provided tasks from any thread to the loop. It never waits, and is sent before the result or
// not at all.

import BridgeMessage
import EventLoop
import Synchronization

/// The sender of one call's progress.
final class ProgressReport: Sendable {
    private let connection: ClientConnection
    /// The text of the call's id.
    private let id: [UInt8]
    private let isOver = Atomic<Bool>(false)
    /// The number of the next progress message, from 0. Changed only on the loop thread.
    private let sequence = Atomic<UInt64>(0)

    init(_ connection: ClientConnection, id: [UInt8]) {
        self.connection = connection
        self.id = id
    }

    /// Sends a value. Returns false if the call has ended or the daemon does not read. Any thread.
    func send(_ value: [UInt8]) -> Bool {
        guard !isOver.load(ordering: .relaxed), connection.progressRoom.take(value.count) else { return false }
        // The loop runs posted closures in order: a handler's progress is sent before the result that it returns.
        EventLoop.post { self.write(value) }
        return true
    }

    @LoopActor
    private func write(_ value: [UInt8]) {
        connection.progressRoom.release(value.count)
        // The call can end after another thread has passed the check above.
        guard !isOver.load(ordering: .relaxed) else { return }
        let number = sequence.add(1, ordering: .relaxed).oldValue
        connection.send { output in
            id.withUnsafeBytes { id in
                value.withUnsafeBytes { MessageEncoder.progress(id: id, value: $0, sequence: number, to: output) }
            }
        }
    }

    /// Ends the report: the call has ended, or its caller no longer waits. Any thread.
    func end() { isOver.store(true, ordering: .relaxed) }
}
