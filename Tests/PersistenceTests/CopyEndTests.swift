import Foundation
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("The end of copies over a bridge", .timeLimit(.minutes(20)))
struct CopyEndTests {
    /// Returns the names of the transfer files.
    private func files(_ bridge: TestBridge) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bridge.stateDirectory)
            .filter { $0.contains(TransferRegistry.suffix) }
    }

    /// Waits until there is no transfer file.
    private func expectNoFiles(_ bridge: TestBridge, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let deadline = Deadline()
        while try files(bridge) != [], !deadline.isOver { await Task.yield() }
        #expect(try files(bridge) == [], sourceLocation: sourceLocation)
    }

    /// Starts a bridge whose store is larger than the window of a stream.
    private func filled() async throws -> (TestBridge, TestSession) {
        let bridge = try await TestBridge.start(.persistence())
        let session = await bridge.session()
        let text = JSON.string(String(repeating: "x", count: 200_000))
        for key in 0..<5 {
            let options: JSON = ["table": "t", "key": .string("k\(key)"), "record": ["text": text]]
            try await session.call("persistence.create", options)
        }
        return (bridge, session)
    }

    @Test("A copy's file exists until the copy has been read")
    func read() async throws {
        let (bridge, session) = try await filled()
        let copy = try await session.call("persistence.export")
        #expect(try files(bridge).count == 1)
        let bytes = try await session.readAll(copy["stream"] ?? nil)
        #expect(copy["bytes"] == .number(JSONNumber(bytes.count)))
        try await expectNoFiles(bridge)
        await bridge.stop()
    }

    @Test("A reader that closes its stream half way leaves no file")
    func half() async throws {
        let (bridge, session) = try await filled()
        let stream = try #require(try await session.call("persistence.backup")["stream"])
        _ = try await session.readPart(stream)
        #expect(try files(bridge).count == 1)
        try await session.call("bridge.stream.close", ["stream": stream])
        try await expectNoFiles(bridge)
        await bridge.stop()
    }

    @Test("A copy that is not read is removed when its stream expires")
    func unclaimed() async throws {
        let (bridge, session) = try await filled()
        let stream = try #require(try await session.call("persistence.backup")["stream"])
        #expect(try files(bridge).count == 1)
        await bridge.advance(by: .seconds(120))
        try await expectNoFiles(bridge)
        let error = try await #require(throws: BridgeError.self) { _ = try await session.readPart(stream) }
        #expect(error.code == "stream.not_found")
        await bridge.stop()
    }

    @Test("A copy is removed when its session ends, whether it was read or not", arguments: [true, false])
    func session(isRead: Bool) async throws {
        let (bridge, session) = try await filled()
        let stream = try #require(try await session.call("persistence.backup")["stream"])
        if isRead { _ = try await session.readPart(stream) }
        #expect(try files(bridge).count == 1)
        await session.hangUp()
        try await expectNoFiles(bridge)
        await bridge.stop()
    }

    @Test("Copies for a caller without stream quota are removed and occupy no transfer slot")
    func quota() async throws {
        let (bridge, session) = try await filled()
        for _ in 0..<64 { _ = try await session.makeStream() }
        for _ in 0...Limits.transfers {
            let error = try await #require(throws: BridgeError.self) {
                _ = try await session.call("persistence.backup")
            }
            #expect(error.code == .quotaExceeded)
        }
        try await expectNoFiles(bridge)
        await bridge.stop()
    }

    @Test("At most four transfers run at a time; a further one fails as busy until one has ended")
    func bound() async throws {
        let (bridge, session) = try await filled()
        var begun: [(stream: JSON, call: Int64)] = []
        for _ in 0..<3 {
            let stream = try await session.makeStream()
            begun.append((stream, await session.begin("persistence.import", ["stream": stream])))
        }
        let copy = try await session.call("persistence.backup")
        for (task, options) in [
            ("persistence.backup", [:]), ("persistence.restore", ["stream": try await session.makeStream()]),
        ] as [(String, JSON)] {
            let error = try await #require(throws: BridgeError.self) { _ = try await session.call(task, options) }
            #expect(error.code == .busy && error.isTransient, "\(task)")
            #expect(error.data?["started"] == false, "\(task)")
        }
        _ = try await session.readAll(copy["stream"] ?? nil)
        _ = try await session.readAll(try await session.call("persistence.export")["stream"] ?? nil)
        for (stream, call) in begun {
            let reason: JSON = ["code": "disk.broken", "message": "no disk"]
            try await session.call("bridge.stream.close", ["stream": stream, "error": reason])
            let error = try await #require(throws: BridgeError.self) { _ = try await session.outcome(of: call) }
            #expect(error.code == "stream.closed" && error.data?["error"] == reason)
        }
        try await expectNoFiles(bridge)
        await bridge.stop()
    }

    @Test("An import whose sender disconnects half way is not applied, and its file is removed")
    func sender() async throws {
        let (bridge, session) = try await filled()
        let sender = await bridge.session()
        let stream = try await sender.makeStream()
        try await sender.call("bridge.stream.write", ["stream": stream, "base64": "e30K"])
        _ = await sender.begin("persistence.import", ["stream": stream])
        let deadline = Deadline()
        while try files(bridge) == [], !deadline.isOver { await Task.yield() }
        #expect(try files(bridge).count == 1)
        await sender.hangUp()
        try await expectNoFiles(bridge)
        #expect(try await session.call("persistence.query", ["table": "t"]).keys.count > 0)
        await bridge.stop()
    }

    @Test("Stopping the plugin removes all transfer files")
    func stopped() async throws {
        let directory = try TestStore.makeDirectory()
        let bridge = try await TestBridge.start(.persistence(), stateDirectory: directory)
        let session = await bridge.session()
        _ = try await session.call("persistence.backup")
        _ = await session.begin("persistence.import", ["stream": try await session.makeStream()])
        await bridge.stop()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!names.contains { $0.contains(TransferRegistry.suffix) })
    }
}
