import EventLoop
import Glibc
import TestSupport
import Testing

/// A stream that performs random operations while its peer sends.
@LoopActor
private final class RestlessStream {
    let pair: StreamPair
    private(set) var sent: [UInt8] = []
    private var random: SeededGenerator
    /// A descriptor to send with bytes.
    private let passed: Int32

    init(_ seed: UInt64, _ passed: Int32) throws {
        pair = try StreamPair()
        random = SeededGenerator(seed: seed)
        self.passed = passed
        pair.their.onReport = { [unowned self] _ in if oneOf(3) { change() } }
    }

    private func oneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private func send() {
        let count = Int.random(in: 1...(oneOf(4) ? 60_000 : 300), using: &random)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: sent.count &+ $0) }
        let taken =
            oneOf(3) ? bytes.withUnsafeBytes { pair.ours.write($0, with: passed) } : pair.ours.write(bytes)
        sent += bytes.prefix(taken)
    }

    private func change() {
        let stream = pair.theirs
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1, 2: stream.startReading()
        case 3: stream.stopReading()
        case 4: stream.suspendReading()
        case 5: stream.awaitHangUp()
        case 6: stream.readNow()
        case 7: stream.maximumReadBytes = Int.random(in: 1...9_000, using: &random)
        default: stream.awaitRoom()
        }
    }

    func step() async {
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: send()
        case 2: pair.theirs.write([UInt8](repeating: 1, count: Int.random(in: 1...50_000, using: &random)))
        case 3: if oneOf(2) { pair.ours.startReading() } else { pair.ours.stopReading() }
        case 4: change()
        default: await turns(1)
        }
    }

    /// The peer may send a last time and disconnects; the stream reads.
    func end() async {
        pair.their.onReport = nil
        if oneOf(2) { pair.theirs.startReading() }
        if oneOf(2) { send() }
        if oneOf(2) { await turns(1) }
        pair.theirs.startReading()
        if oneOf(2) { pair.ours.shutdownWrite() } else { pair.ours.close() }
        await pair.their.wait { $0.ends.contains(.endOfInput) || $0.ends.contains(.hangUp) }
    }
}

@Suite(.timeLimit(.minutes(5))) @LoopActor struct StreamLawTests {
    // Each case has a time limit of its own: on a busy machine all together take minutes.
    @Test(
        "After random operations during sending, a stream has read all bytes and gets the peer's end",
        arguments: 0..<60 as Range<UInt64>, [false, true])
    func reading(seed: UInt64, takesDescriptors: Bool) async throws {
        let passed = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(passed) }
        let restless = try RestlessStream(seed, passed)
        defer { restless.pair.close() }
        if takesDescriptors { restless.pair.theirs.onDescriptor = { _ in } }
        for _ in 0..<30 { await restless.step() }
        await restless.end()
        #expect(restless.pair.their.received == restless.sent)
    }

    @Test("A stream without a descriptor callback reads past received descriptors, without later bytes")
    func unwantedDescriptors() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        let passed = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(passed) }
        for _ in 0..<20 { #expect(Array("a".utf8).withUnsafeBytes { pair.ours.write($0, with: passed) } == 1) }
        pair.ours.write("b")
        pair.theirs.startReading()
        await pair.their.wait { $0.received == Array("aaaaaaaaaaaaaaaaaaaab".utf8) }
    }

    @Test("Room is reported for each request, also for a request inside the previous report")
    func room() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.their.onReport = { [their = pair.their, theirs = pair.theirs] _ in
            if their.ends.count < 10 { theirs.awaitRoom() }
        }
        pair.theirs.awaitRoom()
        await pair.their.wait { $0.ends.count == 10 }
        await turns(3)
        #expect(pair.their.ends.count == 10)
        pair.their.onReport = nil
        pair.theirs.awaitRoom()
        await pair.their.wait { $0.ends.count == 11 }
    }

    @Test("A hang-up without bytes before it is reported when the stream later waits for it")
    func lateHangUp() async throws {
        let pair = try StreamPair()
        defer { pair.close() }
        pair.theirs.startReading()
        pair.theirs.suspendReading()
        pair.ours.close()
        await turns(4)
        #expect(pair.their.reports.isEmpty)
        pair.theirs.awaitHangUp()
        await pair.their.wait { $0.ends == [.hangUp] }
    }
}
