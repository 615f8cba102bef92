import BridgeJSON
import BridgeMessage

@testable import TaskRuntime

/// A pipe without system calls. It records the ends that were given away and the bytes that were written.
final class FakePipe: StreamPipe {
    let events: StreamPipeEvents
    private(set) var given: [StreamSide] = []
    /// The number of bytes that the daemon requested from the writer's end.
    private(set) var wantedBytes = 0
    /// The bytes that were written to the reader's end.
    private(set) var received: [UInt8] = []
    /// The number of bytes that the reader's end still accepts.
    var roomBytes = 64 << 10
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
        received += bytes.prefix(count)
        roomBytes -= count
        return count
    }

    func close() { isClosed = true }
}

/// The pipes of a test's runtime, in the order of their creation.
final class FakePipes {
    private(set) var made: [FakePipe] = []
    /// The error for the creation of a pipe; `nil` if the creation succeeds.
    var refusal: BridgeError?

    init(_ bench: Bench) {
        bench.runtime.makePipe = { [unowned self] _, events throws(BridgeError) in
            if let refusal { throw refusal }
            let pipe = FakePipe(events)
            made.append(pipe)
            return pipe
        }
    }
}

/// A peer that receives descriptors.
final class FakeReceiver: DescriptorReceiver {
    /// The number of passed descriptors that the peer has not received yet.
    var unreadDescriptors = 0
    private(set) var passedCount = 0

    func pass(_ descriptor: PassedDescriptor) { passedCount += 1 }
}
