import Foundation
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("A database that there is no time to check before it is used")
struct LateCheckTests {
    /// A check that is over before it begins.
    private var noTime: Interruption {
        let check = Interruption()
        check.fire()
        return check
    }

    /// A store's directory with a database of which a page of records is damaged.
    private func damaged() async throws -> String {
        let directory = try TestStore.makeDirectory()
        let store = try await TestStore(directory: directory)
        _ = await store.send(
            (0..<500).map { .init("create", ["table": "t", "key": .string("key \($0)"), "record": ["n": 1]]) })
        await store.close()
        let url = URL(fileURLWithPath: store.path)
        var bytes = try Data(contentsOf: url)
        let page = try #require((2..<bytes.count / 4096).last { bytes[$0 * 4096] == 0x0D })
        bytes.replaceSubrange(page * 4096..<page * 4096 + 100, with: Data(repeating: 0xFF, count: 100))
        try bytes.write(to: url)
        return directory
    }

    @Test("is checked while it is in use, and the operator is told that it is sound")
    func sound() async throws {
        let first = try await TestStore()
        try await first.call("create", ["table": "t", "key": "a", "record": ["n": 1]])
        await first.close()
        let store = try await TestStore(directory: first.directory, check: noTime)
        try await store.call("create", ["table": "t", "key": "b", "record": ["n": 2]])
        try await store.store.lateCheck.lane.run {}
        #expect(store.log.withLock { $0.map { $0.split(separator: " ").last } } == ["use.", "sound."])
        #expect(try await store.call("read", ["table": "t", "key": "b"])["record"] == ["n": 2])
        await store.close()
    }

    @Test("and is damaged carries out no call from when that is known, and says why; watches end all the same")
    func unsound() async throws {
        let store = try await TestStore(directory: try await damaged(), check: noTime)
        try await store.store.lateCheck.lane.run {}
        for (task, options) in [
            ("read", ["table": "t", "key": "key 1"]), ("create", ["table": "t", "key": "new", "record": [:]]),
            ("watch", ["table": "t"]),
        ] as [(String, JSON)] {
            let error = try await store.failure(task, options)
            #expect(error.code == "storage.failed")
            #expect(error.message.contains("damaged"))
            #expect(error.message.contains(store.path))
        }
        #expect(store.log.withLock { $0.last?.contains("damaged") == true })
        store.store.sessionClosed(1)
        await store.close()
    }

    @Test("takes a copy in its place, and works again")
    func restored() async throws {
        let other = try await TestStore()
        try await other.call("create", ["table": "t", "key": "kept", "record": ["n": 7]])
        let copy = try await other.backup()
        await other.close()
        let store = try await TestStore(directory: try await damaged(), check: noTime)
        try await store.store.lateCheck.lane.run {}
        #expect(try await store.failure("read", ["table": "t", "key": "kept"]).code == "storage.failed")
        _ = try await store.restore(copy)
        #expect(try await store.call("read", ["table": "t", "key": "kept"])["record"] == ["n": 7])
        await store.close()
    }

    @Test("is replaced and closed while it is checked")
    func replaced() async throws {
        let other = try await TestStore()
        try await other.call("create", ["table": "t", "key": "kept", "record": ["n": 7]])
        let copy = try await other.backup()
        await other.close()
        let store = try await TestStore(directory: other.directory, check: noTime)
        // The check is at work, or about to be.
        _ = try await store.restore(copy)
        #expect(try await store.call("read", ["table": "t", "key": "kept"])["record"] == ["n": 7])
        await store.close()
        let again = try await TestStore(directory: other.directory, check: noTime)
        await again.close()
    }
}
