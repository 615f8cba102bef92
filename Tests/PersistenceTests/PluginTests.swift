import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import PersistenceTasks

@Suite("The plugin on a bridge", .timeLimit(.minutes(20)))
struct PluginTests {
    private func create(_ key: String, table: String = "t") -> JSON {
        ["table": .string(table), "key": .string(key), "record": ["of": .string(key)]]
    }

    @Test("The seven tasks work")
    func tasks() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let made = try await session.call("persistence.create", create("a"))
        #expect(made == ["key": "a", "version": 1])
        try await session.call("persistence.update", ["table": "t", "key": "a", "patch": ["n": 1], "ifVersion": 1])
        let read = try await session.call("persistence.read", ["table": "t", "key": "a"])
        #expect(read == ["key": "a", "version": 2, "record": ["of": "a", "n": 1]])
        let page = try await session.call("persistence.query", ["table": "t", "where": ["n": ["$gte": 1]]])
        #expect(page.keys == ["a"])
        #expect(try await session.call("persistence.watch", ["table": "t"]) == ["version": 2])
        let operations: JSON = [["delete": ["table": "t", "key": "a"]], ["create": create("b")]]
        try await session.call("persistence.transaction", ["operations": operations])
        try await session.call("persistence.delete", ["table": "t", "key": "b"])
        let error = try await #require(throws: BridgeError.self) {
            try await session.call("persistence.read", ["table": "t", "key": "b"])
        }
        #expect(error.code == "record.not_found")
        await bridge.stop()
    }

    @Test("The plugin's metrics report records, changes, commits and the file size, also after a restart")
    func figures() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "figures-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func figures(_ session: TestSession) async throws -> [String: Double] {
            let metrics = try await session.call("bridge.status")["metrics"]?.arrayValue ?? []
            return Dictionary(
                metrics.map { ($0["name"]?.stringValue ?? "", $0["value"]?.doubleValue ?? -1) },
                uniquingKeysWith: { first, _ in first })
        }
        let bridge = try await TestBridge.start(.persistence(), stateDirectory: folder)
        let session = await bridge.session()
        for key in ["a", "b", "c"] { try await session.call("persistence.create", create(key)) }
        try await session.call("persistence.delete", ["table": "t", "key": "a"])
        try await session.call("persistence.update", ["table": "t", "key": "b", "record": [:]])
        // Rolled back, therefore not counted.
        let operations: JSON = [["create": create("d")], ["delete": ["table": "t", "key": "nope"]]]
        _ = try? await session.call("persistence.transaction", ["operations": operations])
        let first = try await figures(session)
        #expect(first["records"] == 2)
        #expect(first["record_changes"] == 5)
        #expect(first["commits"] == 5)
        // The last call is answered before the metric excludes it.
        #expect(try #require(first["calls_queued"]) <= 1)
        #expect(try #require(first["store"]) > 4096)
        #expect(try #require(first["commit_duration"]) >= first["last_commit_duration"] ?? .infinity)
        await bridge.stop()

        let again = try await TestBridge.start(.persistence(), stateDirectory: folder)
        let second = try await figures(again.session())
        #expect(second["records"] == 2)
        #expect(second["commits"] == 0)
        await again.stop()
    }

    @Test("Calls that a session sends without waiting for answers take effect in order")
    func pipelined() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let others = await bridge.session()
        var ids: [Int64] = []
        var noise: [Int64] = []
        for round in 0..<30 {
            ids.append(await session.begin("persistence.read", ["table": "t", "key": "a"]))
            ids.append(await session.begin("persistence.create", create("a")))
            noise.append(await others.begin("persistence.create", create("n\(round)", table: "u")))
            ids.append(await session.begin("persistence.read", ["table": "t", "key": "a"]))
            ids.append(await session.begin("persistence.update", ["table": "t", "key": "a", "patch": ["r": 1]]))
            ids.append(await session.begin("persistence.query", ["table": "t"]))
            ids.append(await session.begin("persistence.delete", ["table": "t", "key": "a"]))
        }
        for (index, id) in ids.enumerated() {
            let outcome: String
            do {
                let result = try await session.outcome(of: id)
                outcome = result["records"]?[0]?["record"]?["r"] == nil ? "ok" : "updated"
            } catch let error as BridgeError {
                outcome = error.code.rawValue
            }
            #expect(outcome == ["record.not_found", "ok", "ok", "ok", "updated", "ok"][index % 6], "call \(index)")
        }
        for id in noise { _ = try await others.outcome(of: id) }
        await bridge.stop()
    }

    @Test("A watcher gets record.changed for missed changes, then for new ones")
    func watch() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let (writer, watcher) = (await bridge.session(), await bridge.session())
        for key in ["a", "b"] { try await writer.call("persistence.create", create(key)) }
        let watch = try await watcher.call("persistence.watch", ["table": "t", "since": 1])
        #expect(watch == ["version": 2])
        try await writer.call("persistence.delete", ["table": "t", "key": "a"])
        let first = await watcher.nextEvent()
        #expect(first.name == "record.changed")
        #expect(first.data == ["table": "t", "key": "b", "version": 2, "change": "create"])
        let second = await watcher.nextEvent()
        #expect(second.data == ["table": "t", "key": "a", "version": 3, "change": "delete"])
        await bridge.stop()
    }

    @Test("A long replay arrives complete and in order")
    func longReplay() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let (writer, watcher) = (await bridge.session(), await bridge.session())
        for page in 0..<3 {
            let operations = (0..<1000).map { JSON.object(["create": create("k\(page * 1000 + $0)")]) }
            try await writer.call("persistence.transaction", ["operations": .array(operations)])
        }
        try await watcher.call("persistence.watch", ["table": "t", "since": 0])
        for version in 1...3000 {
            let event = await watcher.nextEvent()
            #expect(event.name == "record.changed")
            guard event.data.version == Int64(version) else {
                Issue.record("\(event.name) \(event.data.text) in place of version \(version)")
                break
            }
        }
        await bridge.stop()
    }

    @Test("A session that ends with a watch does not stop other watches")
    func sessionEnds() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let (writer, gone, stays) = (await bridge.session(), await bridge.session(), await bridge.session())
        try await gone.call("persistence.watch", ["table": "t"])
        try await stays.call("persistence.watch", ["table": "t"])
        await gone.hangUp()
        try await writer.call("persistence.create", create("a"))
        #expect(await stays.nextEvent().data.version == 1)
        await bridge.stop()
    }

    @Test("Users and origins have their own records; a trusted caller may name other namespaces")
    func namespaces() async throws {
        let bridge = try await TestBridge.start(.persistence(), daemonUID: 900)
        let page = await bridge.session(uid: 900, origin: "https://a.example:8443")
        let root = await bridge.session(uid: 0)
        try await page.call("persistence.create", create("a"))
        #expect(try await root.call("persistence.query", ["table": "t"]).keys == [])
        let options: JSON = ["table": "t", "namespace": "900:https://a.example:8443"]
        #expect(try await root.call("persistence.query", options).keys == ["a"])
        await bridge.stop()
    }

    @Test("The tasks on records are public; the option namespace requires the permission store")
    func openTasks() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let root = await bridge.session(uid: 0)
        for task in ["create", "read", "update", "delete", "query", "watch", "transaction"] {
            let description = try await root.call("bridge.describe", ["task": .string("persistence.\(task)")])
            #expect(description["public"] == true, "\(task)")
            #expect(description["optionPermissions"] == ["namespace": "store"], "\(task)")
            #expect(description["events"]?.arrayValue?.allSatisfy { $0["public"] == true } == true)
        }
        await bridge.stop()
    }

    @Test("Records survive restarts of the daemon")
    func restart() async throws {
        let directory = try TestStore.makeDirectory()
        for round in 1...3 {
            let bridge = try await TestBridge.start(.persistence(), stateDirectory: directory)
            let session = await bridge.session()
            try await session.call("persistence.create", create("k\(round)"))
            #expect(try await session.call("persistence.query", ["table": "t"]).keys.count == round)
            await bridge.stop()
        }
    }

    @Test("The configuration sets the file; unknown keys and invalid values are refused")
    func configuration() async throws {
        let directory = try TestStore.makeDirectory()
        let bridge = try await TestBridge.start(
            .persistence(), configuration: ["persistence": ["file": "other.db", "tombstones": 5]],
            stateDirectory: directory)
        await bridge.stop()
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
        #expect(files.contains { $0.hasSuffix("other.db") })
        for section: JSON in [["fiel": "x"], ["file": "../x"], ["tombstones": -1]] {
            let error = try await #require(throws: BridgeError.self) {
                try await TestBridge.start(.persistence(), configuration: ["persistence": section])
            }
            #expect(error.code == .configurationInvalid)
        }
    }

    @Test("With a damaged database the launch fails, and the error names the file")
    func damaged() async throws {
        let directory = try TestStore.makeDirectory()
        let first = try await TestBridge.start(.persistence(), stateDirectory: directory)
        await first.stop()
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
        let file = try #require(files.first { $0.hasSuffix("records.sqlite") })
        try Data(repeating: 0x20, count: 5000).write(to: URL(fileURLWithPath: directory + "/" + file))
        let error = try await #require(throws: (any Error).self) {
            try await TestBridge.start(.persistence(), stateDirectory: directory)
        }
        #expect("\(error)".contains("records.sqlite"))
        #expect("\(error)".contains("damaged"))
    }

    @Test("The tasks describe their options and results")
    func described() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        for name in ["create", "read", "update", "delete", "query", "watch", "transaction"] {
            let description = try await session.call("bridge.describe", ["task": .string("persistence.\(name)")])
            #expect(description["options"]?["properties"]?["table"] != nil || name == "transaction")
            #expect(description["result"]?["type"] == "object")
        }
        await bridge.stop()
    }
}
