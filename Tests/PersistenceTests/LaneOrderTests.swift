import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("Independence of the lanes", .timeLimit(.minutes(20)))
struct LaneOrderTests {
    private typealias Request = TestStore.Request

    private func create(_ key: String, session: SessionID) -> Request {
        Request("create", ["table": "t", "key": .string(key), "record": [:]], session: session)
    }

    private func read(_ key: String, session: SessionID) -> Request {
        Request("read", ["table": "t", "key": .string(key)], session: session)
    }

    private func query(session: SessionID) -> Request { Request("query", ["table": "t"], session: session) }

    @Test("Reads and queries of other sessions are answered during a held commit; the writer's own wait for it")
    func heldCommit() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        let release = await store.hold(.commits)
        let write = store.begin(create("b", session: 1))
        let own = [store.begin(read("b", session: 1)), store.begin(query(session: 1))]
        #expect(try await store.begin(read("a", session: 2)).outcome.get().key == "a")
        #expect(try await store.begin(query(session: 2)).outcome.get().keys == ["a"])
        let early = await store.begin(read("b", session: 2)).outcome
        #expect(throws: BridgeError.self) { try early.get() }
        #expect(!write.isAnswered)
        #expect(!own.contains { $0.isAnswered })
        release()
        #expect(try await write.outcome.get().version == 2)
        #expect(try await own[0].outcome.get().key == "b")
        #expect(try await own[1].outcome.get().keys == ["a", "b"])
    }

    @Test("Reads and writes of other sessions are carried out during a held query; its session's own wait for it")
    func heldQuery() async throws {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        let release = await store.hold(.queries)
        let slow = store.begin(query(session: 1))
        let own = [store.begin(create("b", session: 1)), store.begin(read("b", session: 1))]
        #expect(try await store.begin(read("a", session: 2)).outcome.get().key == "a")
        #expect(try await store.begin(create("c", session: 2)).outcome.get().version == 2)
        #expect(!slow.isAnswered)
        #expect(!own.contains { $0.isAnswered })
        release()
        // The query shows the state at its turn: another session's write may be seen, the session's own later write may
        // not.
        #expect(try await slow.outcome.get().keys == ["a", "c"])
        #expect(try await own[0].outcome.get().version == 3)
        #expect(try await own[1].outcome.get().key == "b")
    }

    @Test("The watches of an ended session end, also one whose request still waited")
    func closedBehindHeldWatch() async throws {
        let store = try await TestStore()
        let release = await store.hold(.queries)
        _ = store.begin(query(session: 5))
        let watch = store.begin(Request("watch", ["table": "t"], session: 5))
        store.store.sessionClosed(5, user: 1000)
        await store.finishJobsOfOthers(than: .queries)
        release()
        _ = await watch.outcome
        await store.settle()
        try await store.call("create", ["table": "t", "key": "a", "record": [:]])
        await store.settle()
        #expect(store.sink.sent(5) == [])
    }

    @Test("The close waits for held calls, and refuses later ones")
    func close() async throws {
        let directory = try TestStore.makeDirectory()
        let store = try await TestStore(directory: directory)
        let release = await store.hold(.queries)
        let slow = store.begin(query(session: 1))
        let write = store.begin(create("a", session: 1))
        async let closed: Void = store.close()
        release()
        await closed
        #expect(slow.isAnswered)
        #expect(write.isAnswered)
        let late = await store.begin(read("a", session: 1)).outcome
        #expect(throws: BridgeError.self) { try late.get() }
        let again = try await TestStore(directory: directory)
        let isStored = (try? await write.outcome.get()) != nil
        #expect(try await again.call("query", ["table": "t"]).keys == (isStored ? ["a"] : []))
    }

    @Test("A read finds a record written after an earlier read found its table missing")
    func newTable() async throws {
        let store = try await TestStore()
        for key in ["a", "b"] {
            let missing = await store.begin(read(key, session: 2)).outcome
            #expect(throws: BridgeError.self) { try missing.get() }
            _ = try await store.begin(create(key, session: 1)).outcome.get()
            #expect(try await store.begin(read(key, session: 2)).outcome.get().key == key)
        }
    }
}
