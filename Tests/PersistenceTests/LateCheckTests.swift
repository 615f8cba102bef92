import Foundation
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("A database that is opened before its check has finished", .timeLimit(.minutes(20)))
struct LateCheckTests {
    /// An interruption that ends the check before it begins.
    private var noTime: Interruption {
        let check = Interruption()
        check.fire()
        return check
    }

    /// Creates and closes a store with one record. Returns its directory and a copy of it.
    private func copied() async throws -> (directory: String, copy: [UInt8]) {
        let store = try await TestStore()
        try await store.call("create", ["table": "t", "key": "kept", "record": ["n": 7]])
        let copy = try await store.backup()
        await store.close()
        return (store.directory, copy)
    }

    @Test("is checked while it is in use, and the log reports that it is sound")
    func sound() async throws {
        let first = try await TestStore()
        try await first.call("create", ["table": "t", "key": "a", "record": ["n": 1]])
        await first.close()
        let store = try await TestStore(directory: first.directory, check: noTime)
        try await store.call("create", ["table": "t", "key": "b", "record": ["n": 2]])
        try await store.store.lateCheck.lane.run {}
        #expect(store.log.withLock { $0.map { $0.split(separator: " ").last } } == ["use", "sound"])
        #expect(try await store.call("read", ["table": "t", "key": "b"])["record"] == ["n": 2])
        await store.close()
    }

    @Test("refuses calls with the reason once the check has found damage; sessions still end")
    func unsound() async throws {
        let store = try await TestStore(directory: try await TestStore.makeDamagedDirectory(), check: noTime)
        try await store.store.lateCheck.lane.run {}
        for (task, options) in [
            ("read", ["table": "t", "key": "key 1"]), ("create", ["table": "t", "key": "new", "record": [:]]),
            ("watch", ["table": "t"]),
        ] as [(String, JSON)] {
            let error = try await store.failure(task, options)
            #expect(error.code == "storage.failed")
            #expect(error.message.contains("damaged"))
            #expect(!error.message.contains(store.directory))
        }
        #expect(store.log.withLock { $0.last?.contains("damaged") == true })
        store.store.sessionClosed(1, user: 1000)
        await store.close()
    }

    @Test("works again after a copy is restored")
    func restored() async throws {
        let (_, copy) = try await copied()
        let store = try await TestStore(directory: try await TestStore.makeDamagedDirectory(), check: noTime)
        try await store.store.lateCheck.lane.run {}
        #expect(try await store.failure("read", ["table": "t", "key": "kept"]).code == "storage.failed")
        _ = try await store.restore(copy)
        #expect(try await store.call("read", ["table": "t", "key": "kept"])["record"] == ["n": 7])
        await store.close()
    }

    @Test("can be replaced and closed during its check")
    func replaced() async throws {
        let (directory, copy) = try await copied()
        let store = try await TestStore(directory: directory, check: noTime)
        // The check is running, or about to run.
        _ = try await store.restore(copy)
        #expect(try await store.call("read", ["table": "t", "key": "kept"])["record"] == ["n": 7])
        await store.close()
        let again = try await TestStore(directory: directory, check: noTime)
        await again.close()
    }
}
