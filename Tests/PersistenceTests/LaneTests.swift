import DiskTestSupport
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Calls that share a commit, and failing disks", .timeLimit(.minutes(20)))
struct LaneTests {
    private typealias Request = TestStore.Request

    private func create(_ key: String, session: SessionID = 1) -> Request {
        Request("create", ["table": "t", "key": .string(key), "record": [:]], session: session)
    }

    private func read(_ key: String, session: SessionID = 1) -> Request {
        Request("read", ["table": "t", "key": .string(key)], session: session)
    }

    private func codes(_ outcomes: [TestStore.Outcome]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .success: "ok"
            case .failure(let error): error.code.rawValue
            }
        }
    }

    @Test("In one batch, each session's reads see its earlier writes and none of its later ones")
    func oneBatch() async throws {
        let store = try await TestStore()
        let outcomes = await store.send([
            read("a"), create("a"), read("a"), create("b", session: 2), read("b", session: 2),
            Request("delete", ["table": "t", "key": "a"]), read("a"),
        ])
        #expect(codes(outcomes) == ["record.not_found", "ok", "ok", "ok", "ok", "ok", "record.not_found"])
    }

    @Test("Calls that arrive together wake their lane once, after the last of them")
    func oneWakeUp() async throws {
        let gathered = Mutex<[@Sendable () -> Void]>([])
        let store = try await TestStore(gather: { job in gathered.withLock { $0.append(job) } })
        await store.settle()
        let atStart = store.wakeUps.value
        let calls = ["a", "b", "c"].map { store.begin(create($0)) }
        #expect(store.wakeUps.value == atStart)
        gathered.withLock { $0 }.forEach { $0() }
        for call in calls { #expect(codes([await call.outcome]) == ["ok"]) }
        #expect(store.wakeUps.value == atStart + 1)
    }

    @Test("A failed write undoes only itself")
    func singleFailure() async throws {
        let store = try await TestStore()
        let outcomes = await store.send([
            create("a"), create("a", session: 2), create("b"),
            Request(
                "transaction",
                [
                    "operations": [
                        ["create": ["table": "t", "key": "c", "record": [:]]],
                        ["create": ["table": "t", "key": "b", "record": [:]]],
                    ]
                ]), create("d"),
        ])
        #expect(codes(outcomes) == ["ok", "record.exists", "ok", "record.exists", "ok"])
        #expect(try await store.call("query", ["table": "t"]).keys == ["a", "b", "d"])
    }

    @Test("A call that is cancelled while it waits is not carried out")
    func cancelled() async throws {
        let store = try await TestStore()
        var cancelled = create("a")
        cancelled.isCancelled = true
        let outcomes = await store.send([cancelled, create("b")])
        #expect(codes(outcomes) == ["call.cancelled", "ok"])
        #expect(try await store.call("query", ["table": "t"]).keys == ["b"])
    }

    @Test("More calls than fit in a batch are all answered, in order")
    func manyCalls() async throws {
        let store = try await TestStore()
        let outcomes = await store.send((0..<1500).map { create("k\($0)", session: SessionID($0 % 7)) })
        #expect(outcomes.compactMap { try? $0.get().version } == Array(1...1500))
    }

    @Test("A session whose waiting calls take too much memory is refused as busy; other sessions are not")
    func waitingBytes() async throws {
        let store = try await TestStore()
        let filler = JSON.string(String(repeating: "x", count: 900_000))
        let large = { (index: Int, session: SessionID) in
            Request("read", ["table": "t", "key": .string("k\(index)"), "namespace": filler], session: session)
        }
        let outcomes = codes(await store.send((0..<20).map { large($0, 1) } + [large(0, 2), create("a")]))
        #expect(outcomes.filter { $0 == "busy" }.count == 2)
        #expect(outcomes[18...19] == ["busy", "busy"])
        #expect(outcomes.suffix(2) == ["options.invalid", "ok"])
        // Answered calls do not count any more.
        #expect(codes(await store.send((0..<18).map { large($0, 1) })).allSatisfy { $0 == "options.invalid" })
    }

    @Test("If the commit does not reach the disk, all writes of the batch fail and do not reappear")
    func failedSync() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        try await store.call("watch", ["table": "t"], session: 3)
        try await store.call("create", ["table": "t", "key": "old", "record": [:]])
        disk.set(.sync, true)
        let outcomes = await store.send([create("a"), create("b", session: 2), create("old"), read("old"), read("a")])
        #expect(codes(outcomes.dropLast(2)) == ["storage.failed", "storage.failed", "storage.failed"])
        #expect(!codes(outcomes).dropLast(2).contains("ok"))
        disk.set(.sync, false)
        #expect(try await store.call("query", ["table": "t"]).keys == ["old"])
        try await store.call("create", ["table": "t", "key": "new", "record": [:]])
        await store.settle()
        #expect(store.sink.sent(3).map { $0.split(separator: " ").last } == ["old", "new"])
        await store.close()
        let again = try await TestStore(directory: directory)
        #expect(try await again.call("query", ["table": "t"]).keys == ["new", "old"])
    }

    @Test("Failed writes do not reappear even if the disk fails until the next start")
    func failedSyncUntilRestart() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        try await store.call("create", ["table": "t", "key": "old", "record": [:]])
        disk.set(.sync, true)
        for _ in 0..<3 {
            let outcomes = await store.send([create("a"), create("b", session: 2)])
            #expect(codes(outcomes) == ["storage.failed", "storage.failed"])
        }
        await store.close()
        disk.set(.sync, false)
        let again = try await TestStore(directory: directory)
        #expect(try await again.call("query", ["table": "t"]).keys == ["old"])
    }

    @Test("A full disk fails the whole batch with the transient error storage.full")
    func fullDisk() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        try await store.call("create", ["table": "t", "key": "old", "record": [:]])
        disk.set(.full, true)
        let outcomes = await store.send([create("a"), create("b", session: 2)])
        for outcome in outcomes {
            let error = try #require(throws: BridgeError.self) { try outcome.get() }
            #expect(error.code == "storage.full")
            #expect(error.isTransient)
        }
        disk.set(.full, false)
        #expect(codes(await store.send([create("a"), create("b", session: 2)])) == ["ok", "ok"])
        #expect(try await store.call("query", ["table": "t"]).keys == ["a", "b", "old"])
    }

    /// Creates a store of records k0, k1 … that each fill a page of the database. Their number exceeds the memory of
    /// SQLite's cache (2 MiB).
    private func largeStore(_ directory: String) async throws -> TestStore {
        let writer = try await TestStore(directory: directory)
        let path = TablePath(namespace: Namespace(uid: 1000, origin: "local"), table: ExactText("t"))
        let body = Array(#"{"x":"\#(String(repeating: "x", count: 3800))"}"#.utf8)
        try await writer.work { access in
            for index in 0..<1500 { _ = try access.records.create(ExactText("k\(index)"), body, in: path) }
        }
        await writer.close()
        return try await TestStore(directory: directory)
    }

    @Test("A read fails if the disk fails, and the store recovers")
    func failedRead() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await largeStore(directory)
        disk.set(.read, true)
        let outcomes = codes(await store.send((0..<20).map { read("k\($0)") }))
        #expect(outcomes == Array(repeating: "storage.failed", count: 20))
        disk.set(.read, false)
        #expect(codes(await store.send((0..<20).map { read("k\($0)") })).allSatisfy { $0 == "ok" })
    }

    @Test("A replay that a disk error interrupts continues when the store works again")
    func interruptedReplay() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await largeStore(directory)
        try await store.call("watch", ["table": "t", "since": 0])
        // The first page of the replay. Its events must be taken before the second page.
        await store.finishJobs()
        #expect(store.sink.sent().count == Limits.replayPageEvents)
        disk.set(.read, true)
        await store.settle()
        #expect(store.sink.sent().count == Limits.replayPageEvents)
        disk.set(.read, false)
        _ = await store.send([read("k0", session: 8)])
        await store.settle()
        #expect(store.sink.sent().count == 1500)
        #expect(store.sink.sent().last == "1500 create k1499")
    }

    @Test("Storage errors do not contain the contents of records")
    func discretion() async throws {
        let directory = try TestStore.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let store = try await TestStore(directory: directory)
        disk.set(.full, true)
        let error = try await store.failure(
            "create", ["table": "secret-table", "key": "secret-key", "record": ["password": "secret-value"]])
        let shown = error.json.text + store.log.withLock { $0.joined() }
        #expect(!shown.contains("secret"))
    }

    @Test("After the close, calls are refused and no acknowledged write is lost")
    func close() async throws {
        let directory = try TestStore.makeDirectory()
        let store = try await TestStore(directory: directory)
        _ = await store.send((0..<50).map { create("k\($0)") })
        await store.close()
        #expect(codes(await store.send([read("k0"), create("x")])) == ["plugin.unavailable", "plugin.unavailable"])
        let again = try await TestStore(directory: directory)
        #expect(try await again.call("query", ["table": "t", "limit": 100]).keys.count == 50)
    }
}
