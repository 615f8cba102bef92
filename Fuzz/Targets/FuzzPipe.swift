import BridgeMessage
@testable import TaskRuntime

/// The pipe of a stream, without the system. The input controls the processes at its other ends.
final class FuzzPipe: StreamPipe {
    private let events: StreamPipeEvents
    private var given: [StreamSide] = []
    /// The number of bytes that the daemon requests from the writer's end.
    private var wantedBytes = 0
    /// The number of bytes that the reader's end still accepts, and whether the daemon waits for room or has met a
    /// closed end.
    private var roomBytes = 4
    private var awaitsRoom = false
    private(set) var isClosed = false

    init(_ events: StreamPipeEvents) { self.events = events }

    func giveEnd(to side: StreamSide) -> PassedDescriptor? {
        guard !given.contains(side) else { return nil }
        given.append(side)
        return PassedDescriptor(adopting: -1)
    }

    func read(_ maximumBytes: Int) { wantedBytes = maximumBytes }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, roomBytes)
        roomBytes -= count
        awaitsRoom = count < bytes.count
        return count
    }

    func close() { isClosed = true }

    // MARK: The other ends

    /// The writer has written: the daemon gets as many bytes as it requested. An empty array: the writer has closed its
    /// end.
    func bring(_ bytes: [UInt8]) {
        guard !isClosed, wantedBytes > 0 else { return }
        let bytes = Array(bytes.prefix(wantedBytes))
        wantedBytes -= bytes.count
        events.bytes(bytes)
    }

    /// The reader has read that number of bytes.
    func makeRoom(_ bytes: Int) {
        roomBytes += bytes
        guard !isClosed, awaitsRoom, roomBytes > 0 else { return }
        awaitsRoom = false
        events.room()
    }

    /// The reader has closed its end, which the daemon notices when it writes.
    func breakOff() { if !isClosed, awaitsRoom { events.broken() } }
}
