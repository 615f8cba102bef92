import BridgeMessage
import EventLoop
import Glibc
import Testing
import PluginInterface

/// A peer that counts its messages. Each message advances the manual clock by 5 µs.
@LoopActor
private final class CountedPeer {
    let channel: MessageChannel
    /// The peer's end of the socket pair. The test writes to it.
    private let peer: Int32
    var received = 0
    var onMessage: (() -> Void)?

    init(_ name: FairUser.Name, _ scheduler: FairScheduler, _ clock: ManualClock) throws {
        let (ours, theirs) = try UnixSocket.pair { ($0.release(), $1.release()) }
        peer = theirs
        channel = try MessageChannel(UnixSocket(adopting: ours), lineBytes: 1 << 20, output: OutputBuffer())
        channel.share(scheduler, as: name)
        channel.receive = { [weak self] _ in
            self?.channel.noteUnasked()
            clock.nanoseconds += 5_000
            self?.received += 1
            self?.onMessage?()
        }
    }

    func send(_ lines: Int) throws {
        let bytes = Array(String(repeating: "{\"task\":\"plugin.log\",\"options\":{}}\n", count: lines).utf8)
        try #require(write(peer, bytes, bytes.count) == bytes.count)
    }

    func close() {
        channel.close()
        Glibc.close(peer)
    }
}

@LoopActor
private final class ManualClock {
    var nanoseconds: UInt64 = 1_000_000_000
}

@Suite("A plugin's process that floods the daemon", .timeLimit(.minutes(20))) @LoopActor
struct FloodTests {
    @Test("takes turns with a user; each call of the user waits for a bounded number of the process's lines")
    func yields() async throws {
        let clock = ManualClock()
        let scheduler = FairScheduler(manualClock: { clock.nanoseconds })
        defer { scheduler.close() }
        let process = try CountedPeer(.process(7), scheduler, clock)
        let user = try CountedPeer(.uid(1), scheduler, clock)
        defer {
            process.close()
            user.close()
        }
        // The number of lines of the flood that were handled before each call of the user.
        var waits: [Int] = []
        var before = 0
        var handled = 0
        try process.send(2_000)
        await withCheckedContinuation { continuation in
            process.onMessage = {
                guard process.received == 1 else { return }
                before = 1
                send(user)
            }
            user.onMessage = {
                waits.append(process.received - before)
                before = process.received
                if waits.count < 40 { return send(user) }
                guard waits.count == 40 else { return }
                handled = process.received
                continuation.resume()
            }
        }
        // The share of a process is 40 lines if the user is idle, and 4 lines, in two turns, if the user sends.
        #expect((waits.first ?? 0) <= 44, "\(waits)")
        #expect(waits.dropFirst().allSatisfy { $0 <= 12 }, "\(waits)")
        // The process also gets its turns.
        #expect((40..<600).contains(handled), "\(waits)")
    }

    private func send(_ user: CountedPeer) {
        do { try user.send(1) } catch { Issue.record("\(error)") }
    }
}
