import DiskTestSupport
import Dispatch
import Foundation
import HTTPRules
import Synchronization
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("Recipients of cookie changes", .timeLimit(.minutes(20)))
struct ListenerTests {
    @Test("The next daemon continues a watch without gaps and without duplicates")
    func handover() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try stage.set("a=1")
        try stage.call(WatchTask(service: stage.service), [:], session: 5)
        try stage.call(AttachTask(service: stage.service), ["replica": "web"], session: 6)
        try stage.set("b=1")
        #expect(stage.sink.take(5).count == 1 && stage.sink.take(6).count == 1)
        let text = try JSONCoding.encode(stage.engine.saved(of: [5, 6, 7]).mapValues { $0 }[5])
        #expect(!text.isEmpty)
        let saved = stage.engine.saved(of: [5, 6, 7])
        #expect(saved.count == 2)
        let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
        // A change before the sessions are restored.
        try next.set("c=1")
        #expect(next.engine.restore(saved, next.service.suffixes) == [])
        for session in [5, 6] as [UInt64] {
            let events = next.sink.take(session)
            #expect(events.count == 1 && events[0]["changes"]?[0]?["cookie"]?["name"] == "c")
        }
        try next.set("d=1")
        #expect(next.sink.take(5).count == 1 && next.sink.take(6).count == 1)
    }

    @Test("A change is published to watchers before its call is answered")
    func order() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try stage.call(WatchTask(service: stage.service), [:], session: 5)
        let sink = stage.sink
        let seen = Mutex<[JSON]>([])
        let call = try stage.begin(SetTask(service: stage.service), ["url": "https://a.example/", "line": "a=1"]) {
            seen.withLock { $0 = sink.take(5) }
        }
        stage.engine.carryOut([call])
        _ = try call.result()
        #expect(seen.withLock { $0 }.count == 1)
    }

    @Test("A watch of a private profile cannot be restored")
    func lost() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try stage.set("a=1", profile: "private:x", session: 5)
        try stage.call(WatchTask(service: stage.service), ["profile": "private:x"], session: 5)
        let saved = stage.engine.saved(of: [5])
        let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
        #expect(next.engine.restore(saved, next.service.suffixes) == [5])
        #expect(next.engine.listeners.count == 0)
    }

    @Test("A session has at most 64 watches, which end with it")
    func quota() throws {
        var settings = CookieSettings()
        settings.uidProfiles = 100
        let stage = try EngineUnderTest(settings: settings)
        defer { stage.remove() }
        let watch = WatchTask(service: stage.service)
        for index in 0..<64 { try stage.call(watch, ["profile": .string("p\(index)")], session: 5) }
        try stage.call(watch, ["profile": "p0"], session: 5)
        let error = #expect(throws: BridgeError.self) { try stage.call(watch, ["profile": "more"], session: 5) }
        #expect(error?.code == .quotaExceeded && error?.data?["quota"] == "cookie_watches")
        try stage.call(watch, ["profile": "p0", "stop": true], session: 5)
        try stage.call(watch, ["profile": "more"], session: 5)
        stage.engine.sessionClosed(5)
        #expect(stage.engine.listeners.count == 0)
    }

    @Test("Watches that begin in one commit are counted together")
    func quotaInBatch() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        let watch = WatchTask(service: stage.service)
        for index in 0..<63 { try stage.call(watch, ["profile": .string("p\(index)")], session: 5) }
        let calls = try ["p63", "p63", "p64"].map { profile in
            try stage.begin(watch, ["profile": .string(profile)], session: 5)
        }
        stage.engine.carryOut(calls)
        #expect(calls.map(\.errorCode) == [nil, nil, .quotaExceeded])
        #expect(stage.engine.listeners.count == 64)
        // The refused one has taken no place.
        try stage.call(watch, ["profile": "p0", "stop": true], session: 5)
        try stage.call(watch, ["profile": "p64"], session: 5)
    }

    @Test("A watch or an attachment can be stopped in the commit in which it begins")
    func stoppedInBatch() throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        let (watch, attach) = (WatchTask(service: stage.service), AttachTask(service: stage.service))
        try stage.set("session=1")
        let calls = [
            try stage.begin(watch, [:], session: 5), try stage.begin(watch, ["stop": true], session: 5),
            try stage.begin(attach, ["replica": "web"], session: 6),
            try stage.begin(attach, ["replica": "web", "stop": true], session: 6),
        ]
        stage.engine.carryOut(calls)
        for call in calls { _ = try call.result() }
        #expect(stage.engine.listeners.count == 0)
        try stage.set("other=1")
        #expect(stage.sink.take(5) == [] && stage.sink.take(6) == [])
        // The attachment was the profile's last one.
        stage.clocks.advance(by: 600)
        stage.engine.endLingering()
        #expect(try stage.names() == [])
    }

    @Test("After a failed commit no watch has begun, and its place is free")
    func failedBegin() throws {
        let directory = try EngineUnderTest.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let stage = try EngineUnderTest(directory: directory)
        defer { stage.remove() }
        let watch = WatchTask(service: stage.service)
        let calls = [
            try stage.begin(SetTask(service: stage.service), ["url": "https://a.example/", "line": "a=1"]),
            try stage.begin(watch, [:], session: 5),
        ]
        disk.set(.sync, true)
        stage.engine.carryOut(calls)
        disk.set(.sync, false)
        #expect(calls.map(\.errorCode) == [.storageFailed, .storageFailed])
        #expect(stage.engine.listeners.count == 0)
        for index in 0..<64 { try stage.call(watch, ["profile": .string("p\(index)")], session: 5) }
    }

    @Test("The options of a user's waiting calls take at most 16 MiB; other users' calls are not refused")
    func waitingBytes() async throws {
        let lane = CookieLane()
        let gate = DispatchSemaphore(value: 0)
        await withCheckedContinuation { continuation in
            Task {
                try? await lane.open {
                    continuation.resume()
                    gate.wait()
                    throw CancellationError()
                }
            }
        }
        let call = { (uid: UInt32) in
            TestCall(uid: uid, sizeBytes: 1 << 20) { _ throws(BridgeError) in CookieOutcome([:]) }
        }
        let calls = (0..<17).map { _ in call(1000) } + [call(1001)]
        for call in calls { lane.submit(call) }
        #expect(calls.map { $0.errorCode == .busy } == (0..<18).map { $0 == 16 })
        gate.signal()
        // The store was not opened, so that the waiting calls end with another error.
        try? await lane.run { _ in }
        #expect(calls.prefix(16).allSatisfy { $0.errorCode == .pluginUnavailable })
        let next = call(1000)
        lane.submit(next)
        try? await lane.run { _ in }
        #expect(next.errorCode == .pluginUnavailable)
    }

    @Test("Concurrent writes of two users are all stored, each for its own user")
    func together() async throws {
        try await withCookies { bridge in
            let sessions = [await bridge.session(), await bridge.session(uid: 0)]
            var ids: [(TestSession, Int64)] = []
            for index in 0..<100 {
                for session in sessions {
                    let line: JSON = ["url": "https://a.example/", "line": .string("c\(index)=1")]
                    ids.append((session, await session.begin("cookies.set", line)))
                }
            }
            for (session, id) in ids { _ = try await session.outcome(of: id) }
            for session in sessions {
                let pairs = try await session.pairs()
                #expect(pairs.count == 100)
            }
        }
    }

    @Test("A session that does not read its watch events does not block writers")
    func silent() async throws {
        try await withCookies { bridge in
            let silent = await bridge.session()
            let writer = await bridge.session()
            try await silent.call("cookies.watch")
            let value = String(repeating: "v", count: 3000)
            for index in 0..<1200 {
                try await writer.set("https://a.example/", "c\(index % 20)=\(index)\(value)")
            }
            let pairs = try await writer.pairs()
            #expect(pairs.count == 20)
        }
    }
}

@Suite("The schemas of the cookie tasks")
struct CookieSchemaTests {
    @Test("Each schema lists exactly the options that its task reads")
    func agreement() throws {
        func names<T: Decodable>(_ type: T.Type) throws -> Set<String> {
            let schema = try JSONSchema.derive(from: type)
            return Set((schema["properties"]?.objectValue ?? JSONObject()).keys)
        }
        func check<T: CookieTask>(_ task: T.Type) throws {
            let described = Set((task.optionsSchema?["properties"]?.objectValue ?? JSONObject()).keys)
            #expect(try names(T.Request.self) == described, "\(task.name)")
        }
        try check(SetTask.self)
        try check(DeleteTask.self)
        try check(GetTask.self)
        try check(WatchTask.self)
        try check(SeedTask.self)
        try check(ImportTask.self)
        try check(ExportTask.self)
        try check(HeaderTask.self)
        try check(ScriptTask.self)
        try check(AttachTask.self)
        try check(ApplyTask.self)
        try check(TakeTask.self)
        try check(PutTask.self)
    }
}
