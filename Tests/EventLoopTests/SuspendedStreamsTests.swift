import EventLoop
import Testing

/// Uses more streams than one turn stops watching.
@Suite(.timeLimit(.minutes(20))) @LoopActor struct SuspendedStreamsTests {
    private let count = 200

    private func suspendedPairs() async throws -> [StreamPair] {
        let pairs = try (0..<count).map { _ in try StreamPair() }
        for pair in pairs {
            pair.their.onReport = { [theirs = pair.theirs] _ in theirs.suspendReading() }
            pair.theirs.startReading()
            pair.ours.write("a")
        }
        for pair in pairs { await pair.their.wait { !$0.received.isEmpty } }
        for pair in pairs {
            pair.their.onReport = nil
            pair.ours.write("b")
        }
        return pairs
    }

    @Test("Many streams suspended in one turn report nothing, and continue when they are started")
    func readOn() async throws {
        let pairs = try await suspendedPairs()
        defer { for pair in pairs { pair.close() } }
        await turns(20)
        #expect(pairs.allSatisfy { $0.their.received == Array("a".utf8) })
        for pair in pairs { pair.theirs.startReading() }
        for pair in pairs { await pair.their.wait { $0.received == Array("ab".utf8) } }
    }

    @Test("Each of many streams suspended in one turn gets the room and the hang-up that it waits for")
    func roomAndHangUp() async throws {
        let pairs = try await suspendedPairs()
        defer { for pair in pairs { pair.close() } }
        for pair in pairs { pair.theirs.awaitRoom() }
        for pair in pairs { await pair.their.wait { $0.ends == [.writable] } }
        for pair in pairs { pair.theirs.startReading() }
        for pair in pairs { await pair.their.wait { $0.received == Array("ab".utf8) } }
        for pair in pairs {
            pair.theirs.awaitHangUp()
            pair.ours.close()
        }
        for pair in pairs { await pair.their.wait { $0.ends == [.writable, .hangUp] } }
    }

    @Test("A turn delivers at most 256 events, and later turns deliver the others")
    func manyEvents() async throws {
        let pairs = try (0..<300).map { _ in try StreamPair() }
        defer { for pair in pairs { pair.close() } }
        let counts = Box<(turn: Int, largest: Int)>()
        counts.value = (0, 0)
        let hook = EventLoop.atTurnEnd { counts.value?.turn = 0 }
        defer { hook.remove() }
        for pair in pairs {
            pair.their.onReport = { _ in
                guard let (turn, largest) = counts.value else { return }
                counts.value = (turn + 1, max(largest, turn + 1))
            }
            pair.theirs.startReading()
            pair.ours.write("a")
        }
        for pair in pairs { await pair.their.wait { $0.received == Array("a".utf8) } }
        for pair in pairs { pair.ours.close() }
        for pair in pairs { await pair.their.wait { $0.ends == [.hangUp] } }
        // The maximum of both rounds. It is smaller if other streams are ready too.
        #expect(try #require(counts.value).largest <= 256)
    }

    @Test("Many streams closed in the turn in which they were suspended report nothing more")
    func closed() async throws {
        let pairs = try (0..<count).map { _ in try StreamPair() }
        defer { for pair in pairs { pair.close() } }
        for pair in pairs {
            pair.their.onReport = { [theirs = pair.theirs] _ in
                theirs.suspendReading()
                theirs.close()
            }
            pair.theirs.startReading()
            pair.ours.write("a")
        }
        for pair in pairs { await pair.our.wait { $0.ends == [.hangUp] } }
        await turns(20)
        #expect(pairs.allSatisfy { $0.their.reports == [.bytes(Array("a".utf8))] })
    }
}
