import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import PersistenceTasks

@Suite("Copies over a bridge")
struct CopyTaskTests {
    private func create(_ key: String) -> JSON { ["table": "t", "key": .string(key), "record": [:]] }

    private func download(_ copy: JSON, _ session: TestSession) async throws -> [UInt8] {
        let id = try #require(copy["download"])
        var bytes: [UInt8] = []
        while bytes.count < copy["bytes"]?.int64Value ?? 0 {
            let options: JSON = ["download": id, "offset": .number(JSONNumber(bytes.count)), "length": 5000]
            let data = try await session.call("persistence.download.read", options)["data"]?.stringValue
            bytes += try #require(data.flatMap { Data(base64Encoded: $0) })
        }
        try await session.call("persistence.download.end", ["download": id])
        return bytes
    }

    private func upload(_ bytes: [UInt8], _ session: TestSession) async throws -> JSONObject {
        let id = try #require(try await session.call("persistence.upload")["upload"])
        let half = bytes.count / 2
        for (offset, part) in [(half, bytes[half...]), (0, bytes[..<half])] {
            let data = JSON.string(Data(part).base64EncodedString())
            let options: JSON = ["upload": id, "offset": .number(JSONNumber(offset)), "data": data]
            let result = try await session.call("persistence.upload.write", options)
            #expect(result == ["bytes": .number(JSONNumber(bytes.count))])
        }
        return ["upload": id, "bytes": .number(JSONNumber(bytes.count))]
    }

    @Test("Options that are decoded on the loop are short; a part of an upload is as long as a message holds")
    func lengths() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let error = await #expect(throws: BridgeError.self) {
            try await session.call("persistence.export", ["table": .string(String(repeating: "x", count: 65_536))])
        }
        #expect(error?.code == .optionsInvalid && error?.data?["expected"] == "at most 65536 bytes of options")
        let part = String(repeating: "AAAA", count: 20_000)
        let id = try #require(try await session.call("persistence.upload")["upload"])
        let options: JSON = ["upload": id, "offset": 0, "data": .string(part)]
        let result = try await session.call("persistence.upload.write", options)
        #expect(result == ["bytes": 60_000])
        await bridge.stop()
    }

    @Test("A backup is taken in parts, and restored from parts; those who watch are told")
    func restore() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let (session, watcher) = (await bridge.session(), await bridge.session())
        try await session.call("persistence.create", create("a"))
        let copy = try await session.call("persistence.backup")
        #expect(copy["records"] == 1)
        let bytes = try await download(copy, session)
        try await session.call("persistence.create", create("b"))
        try await watcher.call("persistence.watch", ["table": "t"])
        var options = try await upload(bytes, session)
        options["sha256"] = copy["sha256"]
        let restored = try await session.call("persistence.restore", .object(options))
        #expect(restored["records"] == 1)
        #expect(restored["kept"]?.stringValue?.hasSuffix("/records.sqlite.before-restore-1") == true)
        #expect(try await session.call("persistence.query", ["table": "t"]).keys == ["a"])
        let event = await watcher.nextEvent()
        #expect(event.name == "cursor.expired")
        #expect(event.data == ["table": "t", "version": JSON(2 + Limits.versionsPerRestore)])
        await bridge.stop()
    }

    @Test("An export is taken in parts, and imported with progress")
    func importing() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        for key in 0..<300 { try await session.call("persistence.create", create("k\(key)")) }
        let bytes = try await download(try await session.call("persistence.export", ["table": "t"]), session)
        for key in 0..<290 { try await session.call("persistence.delete", create("k\(key)").without("record")) }
        var options = try await upload(bytes, session)
        options["ifExists"] = "skip"
        let (progress, result) = try await session.callWithProgress("persistence.import", .object(options))
        #expect(result == ["records": 300, "created": 290, "replaced": 0, "skipped": 10])
        #expect(progress == [["records": 256, "of": 300], ["records": 300, "of": 300]])
        await bridge.stop()
    }

    @Test("Copying the store takes a permission that no rule about persistence.* covers, and is open to nobody")
    func permission() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let root = await bridge.session(uid: 0)
        let stranger = await bridge.session(uid: 4711)
        let copying = [
            "backup", "restore", "export", "import", "download.read", "download.end", "upload", "upload.write",
            "upload.end",
        ]
        for task in copying.map({ "persistence.\($0)" }) {
            let told = try await root.call("bridge.describe", ["task": .string(task)])
            #expect(told["permission"] == "store.copy" && told["public"] == false, "\(task)")
            let error = try await #require(throws: BridgeError.self) { _ = try await stranger.call(task) }
            #expect(error.code == .permissionDenied)
        }
        await bridge.stop()
    }

    @Test("Nobody reaches the copies of another session, and they end with their own")
    func ownership() async throws {
        let directory = try TestStore.makeDirectory()
        let bridge = try await TestBridge.start(.persistence(), stateDirectory: directory)
        let (session, other) = (await bridge.session(), await bridge.session())
        let id = try #require(try await session.call("persistence.backup")["download"])
        for (task, options) in [
            ("persistence.download.read", ["download": id, "offset": 0]),
            ("persistence.download.end", ["download": id]),
            ("persistence.upload.write", ["upload": id, "offset": 0, "data": ""]),
            ("persistence.restore", ["upload": id, "bytes": 0]), ("persistence.import", ["upload": id, "bytes": 0]),
        ] as [(String, JSON)] {
            let error = try await #require(throws: BridgeError.self) { _ = try await other.call(task, options) }
            #expect(error.code == "transfer.not_found", "\(task)")
        }
        await session.hangUp()
        for _ in 0..<2 {
            let copy = try await other.call("persistence.export")
            try await other.call("persistence.download.end", ["download": copy["download"] ?? nil])
        }
        await bridge.stop()
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
        #expect(!files.contains { $0.contains(TransferRegistry.suffix) })
    }

    @Test("Options that do not fit are refused with their position, those that are not known too")
    func options() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let download = try #require(try await session.call("persistence.backup")["download"])
        let upload = try #require(try await session.call("persistence.upload")["upload"])
        for (task, options, path) in [
            ("backup", ["all": true], "$.all"), ("export", ["tabel": "t"], "$.tabel"),
            ("export", ["namespace": "me"], "$.namespace"), ("export", ["table": ""], "$.table"),
            ("import", ["upload": upload, "bytes": 0, "ifExist": "skip"], "$.ifExist"),
            ("import", ["upload": upload, "bytes": 0, "ifExists": "never"], "$.ifExists"),
            ("restore", ["upload": upload], "$.bytes"), ("restore", ["upload": "x", "bytes": 0], "$.upload"),
            ("download.read", ["download": download, "offset": -1], "$.offset"),
            ("download.read", ["download": download, "offset": 0, "length": 0], "$.length"),
            ("download.read", ["download": download, "offset": 0, "length": 262_145], "$.length"),
            ("upload.write", ["upload": upload, "offset": 0, "data": "*"], "$.data"),
            ("upload.write", ["upload": upload, "offset": -1, "data": ""], "$.offset"),
        ] as [(String, JSON, JSON)] {
            let error = try await #require(throws: BridgeError.self) {
                _ = try await session.call("persistence.\(task)", options)
            }
            #expect(error.code == .optionsInvalid, "\(task): \(error)")
            #expect(error.data?["path"] == path, "\(task): \(error)")
        }
        // Behind the end there is nothing.
        let beyond = try await session.call("persistence.download.read", ["download": download, "offset": 10_000_000])
        #expect(beyond == ["data": ""])
        await bridge.stop()
    }

    @Test("The tasks describe themselves")
    func described() async throws {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        for (task, options) in [
            ("backup", []), ("export", ["namespace", "table"]), ("restore", ["upload", "bytes", "sha256"]),
            ("import", ["upload", "bytes", "sha256", "namespace", "table", "ifExists", "dryRun"]),
            ("download.read", ["download", "offset", "length"]), ("download.end", ["download"]), ("upload", []),
            ("upload.write", ["upload", "offset", "data"]), ("upload.end", ["upload"]),
        ] as [(String, [String])] {
            let description = try await session.call("bridge.describe", ["task": .string("persistence.\(task)")])
            #expect(description["options"]?["properties"]?.objectValue?.keys ?? [] == options, "\(task)")
            #expect(description["result"]?["type"] == "object", "\(task)")
        }
        await bridge.stop()
    }
}

extension JSON {
    /// An object without one of its members.
    fileprivate func without(_ name: String) -> JSON {
        guard case .object(var members) = self else { return self }
        members[name] = Optional.none
        return .object(members)
    }
}
