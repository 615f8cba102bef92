import HTTPRules
import Synchronization
import TaskKit
import TestSupport
import Testing

@testable import FetchTasks

@Suite("A body that is arriving", .timeLimit(.minutes(5)))
struct BodyPumpTests {
    /// A source that runs a step of the test before each piece, and then ends.
    private final class SteppedSource: ResponseSource {
        private let steps: Mutex<[@Sendable () -> Int]>
        private let cancelled = Mutex(false)

        var isCancelled: Bool { cancelled.withLock { $0 } }

        /// - Parameter steps: The steps. Each returns the length of the next piece.
        init(_ steps: [@Sendable () -> Int]) { self.steps = Mutex(steps) }

        func next() async throws(BridgeError) -> ResponseChannel.Event {
            guard let step = steps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                return .end(TransferSummary(wireBytes: 0, decodedBytes: 0, total: .zero))
            }
            return .bytes([UInt8](repeating: 0, count: step()))
        }

        func cancel() { cancelled.withLock { $0 = true } }
    }

    /// The readers of a body.
    private final class Readers: Sendable {
        private let readers = Mutex<[GrowingReader]>([])

        func add(_ reader: GrowingReader?) { readers.withLock { $0 += reader.map { [$0] } ?? [] } }
        func leave() { readers.withLock { $0 = [] } }
    }

    private static let third = Int(BodyPump.lingeringBytes) * 3 / 4

    private static func run(_ source: SteppedSource, _ body: GrowingBody) async throws {
        var fields = HeaderList()
        _ = fields.append(name: "Cache-Control", value: "max-age=60")
        let time = UnixTime(seconds: 0)
        let selecting = try #require(SelectingFields(Vary(fields), request: HeaderList()))
        let response = StoredResponse(
            id: 0, status: 200, fields: fields, selecting: selecting, requestedAt: time, receivedAt: time,
            body: .nothing)
        let url = try WebURL("https://a.example/")
        let address = CacheAddress(CachePartition(uid: 1000, profile: "default", site: "local"), url, key: nil)
        let folder = try TemporaryFolder()
        let cache = HTTPCache()
        await cache.open(directory: folder.path, settings: CacheSettings(), now: { time }) { Issue.record("\($0)") }
        await BodyPump(
            source: source, body: body, purpose: .store(response, url, reason: "OK", version: "http/1.1"),
            address: address, cache: cache, maximumBytes: 1 << 20, isBackground: false
        ).run()
        await cache.close()
    }

    @Test("A reader that comes after the last one has left keeps the transfer")
    func readerAfterTheLast() throws {
        let abandonments = Noted<GrowingBody.Abandonment>()
        let body = GrowingBody { _, abandonment in abandonments.note(abandonment) }
        body.reader()?.leave()
        let second = try #require(body.reader())
        #expect(!body.giveUp(abandonments.all[0]))
        second.leave()
        #expect(!body.giveUp(abandonments.all[0]), "the time begins again with the second reader's end")
        #expect(body.giveUp(abandonments.all[1]))
        #expect(body.reader() == nil)
    }

    @Test("Without readers, only a short rest is received")
    func lingering() async throws {
        let body = GrowingBody { _, _ in }
        let readers = Readers()
        readers.add(body.reader())
        let source = SteppedSource([
            { Self.third },
            {
                readers.leave()
                return Self.third
            }, { Self.third }, { Self.third },
        ])
        try await Self.run(source, body)
        #expect(source.isCancelled && body.end == Int64(4 * Self.third))
    }

    @Test("A new reader ends the lingering, which begins again when it leaves")
    func lingeringAgain() async throws {
        let body = GrowingBody { _, _ in }
        let readers = Readers()
        readers.add(body.reader())
        let source = SteppedSource([
            { Self.third },
            {
                readers.leave()
                return Self.third
            },
            {
                readers.add(body.reader())
                return Self.third
            },
            {
                readers.leave()
                return Self.third
            }, { Self.third },
        ])
        try await Self.run(source, body)
        #expect(!source.isCancelled && body.end == Int64(5 * Self.third))
    }
}
