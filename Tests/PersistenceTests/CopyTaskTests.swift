import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import PersistenceTasks

@Suite("Copies over a bridge", .timeLimit(.minutes(20)))
struct CopyTaskTests {
    private func create(_ key: String) -> JSON { ["table": "t", "key": .string(key), "record": [:]] }

    @Test("Options that are decoded on the loop are limited to 65536 bytes")
    func lengths() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let error = await #expect(throws: BridgeError.self) {
            try await session.call("persistence.export", ["table": .string(String(repeating: "x", count: 65_536))])
        }
        #expect(error?.code == .optionsInvalid && error?.data?["expected"] == "at most 65536 bytes of options")
        await bridge.stop()
    }

    @Test("A backup is a stream, a restore reads one, and watchers get an event")
    func restore() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let (session, watcher) = (await bridge.session(), await bridge.session())
        try await session.call("persistence.create", create("a"))
        let copy = try await session.call("persistence.backup")
        #expect(copy["records"] == 1)
        let bytes = try await session.readAll(copy["stream"] ?? nil)
        #expect(copy["bytes"] == .number(JSONNumber(bytes.count)))
        try await session.call("persistence.create", create("b"))
        try await watcher.call("persistence.watch", ["table": "t"])
        let restored = try await session.call(
            "persistence.restore",
            [
                "stream": session.makeStream(of: bytes), "bytes": copy["bytes"] ?? nil, "sha256": copy["sha256"] ?? nil,
            ])
        #expect(restored["records"] == 1)
        #expect(restored["kept"]?.stringValue?.hasSuffix("/records.sqlite.before-restore-1") == true)
        #expect(try await session.call("persistence.query", ["table": "t"]).keys == ["a"])
        let event = await watcher.nextEvent()
        #expect(event.name == "cursor.expired")
        #expect(event.data == ["table": "t", "version": JSON(2 + Limits.versionsPerRestore)])
        await bridge.stop()
    }

    private func transact(_ operation: String, _ options: some Sequence<JSON>, _ session: TestSession) async throws {
        let operations = options.map { JSON.object([operation: $0]) }
        try await session.call("persistence.transaction", ["operations": .array(operations)])
    }

    @Test("An export is a stream, and an import reads one and reports progress")
    func importing() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let records = (0..<300).map { create("k\($0)") }
        try await transact("create", records, session)
        let copy = try await session.call("persistence.export", ["table": "t"])
        let bytes = try await session.readAll(copy["stream"] ?? nil)
        try await transact("delete", records.prefix(290).map { $0.without("record") }, session)
        let options: JSON = ["stream": try await session.makeStream(of: bytes), "ifExists": "skip"]
        let (progress, result) = try await session.callWithProgress("persistence.import", options)
        #expect(result == ["records": 300, "created": 290, "replaced": 0, "skipped": 10])
        #expect(progress == [["records": 256, "of": 300], ["records": 300, "of": 300]])
        await bridge.stop()
    }

    @Test("The copy tasks require the permission store.copy and are not public")
    func permission() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let root = await bridge.session(uid: 0)
        let stranger = await bridge.session(uid: 4711)
        for task in ["backup", "restore", "export", "import"].map({ "persistence.\($0)" }) {
            let description = try await root.call("bridge.describe", ["task": .string(task)])
            #expect(description["permission"] == "store.copy" && description["public"] == false, "\(task)")
            let error = try await #require(throws: BridgeError.self) { _ = try await stranger.call(task) }
            #expect(error.code == .permissionDenied)
        }
        await bridge.stop()
    }

    @Test("Only the calling session can read its copy: no other session, user or origin")
    func ownership() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let others = [
            await bridge.session(), await bridge.session(uid: 0), await bridge.session(origin: "https://a.example"),
        ]
        let copy = try await session.call("persistence.backup")
        let stream = try #require(copy["stream"])
        for other in others {
            let error = try await #require(throws: BridgeError.self) { _ = try await other.readPart(stream) }
            #expect(error.code == "stream.not_found")
        }
        #expect(try await session.readAll(stream).count == copy["bytes"]?.int64Value.map { Int($0) })
        await bridge.stop()
    }

    @Test("A restore and an import read only streams of their caller")
    func foreignStreams() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let (session, other) = (await bridge.session(), await bridge.session())
        for task in ["persistence.restore", "persistence.import"] {
            for stream in [try await other.makeStream(of: [1, 2, 3]), "stream:00", ""] as [JSON] {
                let error = try await #require(throws: BridgeError.self) {
                    _ = try await session.call(task, ["stream": stream])
                }
                #expect(error.code == "stream.not_found", "\(task) \(stream)")
            }
        }
        await bridge.stop()
    }

    @Test("Invalid and unknown options are refused with their path")
    func options() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let stream = try await session.makeStream()
        for (task, options, path) in [
            ("backup", ["all": true], "$.all"), ("export", ["tabel": "t"], "$.tabel"),
            ("export", ["namespace": "me"], "$.namespace"), ("export", ["table": ""], "$.table"),
            ("import", ["stream": stream, "bytes": 0, "ifExist": "skip"], "$.ifExist"),
            ("import", ["stream": stream, "bytes": 0, "ifExists": "never"], "$.ifExists"),
            ("restore", ["bytes": 0], "$.stream"), ("restore", ["stream": 1], "$.stream"),
            ("restore", ["stream": stream, "bytes": "x"], "$.bytes"),
            ("import", ["stream": stream, "namespace": "me"], "$.namespace"),
        ] as [(String, JSON, JSON)] {
            let error = try await #require(throws: BridgeError.self) {
                _ = try await session.call("persistence.\(task)", options)
            }
            #expect(error.code == .optionsInvalid, "\(task): \(error)")
            #expect(error.data?["path"] == path, "\(task): \(error)")
        }
        await bridge.stop()
    }

    @Test("The tasks describe their options and results, and mark the streams")
    func described() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let stream: JSON = ["type": "string", "format": "trestle-stream"]
        for (task, options) in [
            ("backup", []), ("export", ["namespace", "table"]), ("restore", ["stream", "bytes", "sha256"]),
            ("import", ["stream", "bytes", "sha256", "namespace", "table", "ifExists", "dryRun"]),
        ] as [(String, [String])] {
            let description = try await session.call("bridge.describe", ["task": .string("persistence.\(task)")])
            let (taken, made) = (description["options"]?["properties"], description["result"]?["properties"])
            #expect(taken?.objectValue?.keys ?? [] == options, "\(task)")
            #expect(description["result"]?["type"] == "object", "\(task)")
            let marked = options.contains("stream") ? taken?["stream"] : made?["stream"]
            #expect(marked == stream, "\(task)")
        }
        await bridge.stop()
    }
}

extension JSON {
    /// Returns the object without one of its members.
    fileprivate func without(_ name: String) -> JSON {
        guard case .object(var members) = self else { return self }
        members[name] = Optional.none
        return .object(members)
    }
}
