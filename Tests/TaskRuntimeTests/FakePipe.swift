import BridgeJSON
import BridgeMessage

@testable import TaskRuntime

/// A pipe without the system. What the test does with the ends that were given away stands here.
final class FakePipe: StreamPipe {
    let events: StreamPipeEvents
    private(set) var given: [StreamSide] = []
    /// How many bytes the daemon wants of the writer's end.
    private(set) var wantedBytes = 0
    /// What came for the reader's end.
    private(set) var received: [UInt8] = []
    /// How many bytes the reader's end takes.
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

/// Pipes of a runtime in a test, in the order in which they were made.
final class FakePipes {
    private(set) var made: [FakePipe] = []
    /// Why none can be made; nil: it can.
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

/// A peer that gets descriptors.
final class FakeReceiver: DescriptorReceiver {
    /// What it has not received, as the runtime sees it.
    var unreadDescriptors = 0
    private(set) var passedCount = 0

    func pass(_ descriptor: PassedDescriptor) { passedCount += 1 }
}
