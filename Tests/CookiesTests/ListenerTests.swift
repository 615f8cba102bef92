import Foundation
import HTTPRules
import Synchronization
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("Who is sent the changes of cookies", .timeLimit(.minutes(20)))
struct ListenerTests {
    @Test("The next daemon goes on with a watch: nothing is missed, nothing comes twice")
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
        // A change that comes before the sessions do.
        try next.set("c=1")
        #expect(next.engine.restore(saved, next.service.suffixes) == [])
        for session in [5, 6] as [UInt64] {
            let events = next.sink.take(session)
            #expect(events.count == 1 && events[0]["changes"]?[0]?["cookie"]?["name"] == "c")
        }
        try next.set("d=1")
        #expect(next.sink.take(5).count == 1 && next.sink.take(6).count == 1)
    }

    @Test("A change is sent to those who watch before its call is answered")
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

    @Test("A session whose profile was in memory cannot go on")
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

    @Test("A session has 64 watches, which end with it")
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

    @Test("Calls of two users that write at once share a commit, and each sees its own")
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

    @Test("A watch whose session reads nothing holds up nobody")
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

@Suite("The schemas of the tasks of cookies")
struct CookieSchemaTests {
    @Test("The options that a schema names are those that are read")
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
