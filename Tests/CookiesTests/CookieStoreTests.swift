import DiskTestSupport
import Foundation
import HTTPRules
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("The cookie store", .timeLimit(.minutes(20)))
struct CookieStoreTests {
    private func with(_ body: (EngineUnderTest) throws -> Void) throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try body(stage)
    }

    @Test("Acknowledged changes and the feed survive a crash")
    func crash() throws {
        try with { stage in
            try stage.set("a=1; HttpOnly; Secure; SameSite=Strict; Max-Age=100")
            try stage.set("b=2")
            let version = try stage.call(GetTask(service: stage.service), [:])["version"]
            try stage.call(DeleteTask(service: stage.service), ["domain": "a.example", "name": "b"])
            let before = try stage.call(GetTask(service: stage.service), [:])
            // Not closed: the next engine finds the write-ahead log, as after a crash.
            let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            #expect(try next.call(GetTask(service: next.service), [:]) == before)
            let missed = try next.call(WatchTask(service: next.service), ["since": version ?? nil])
            #expect(missed["changes"]?.arrayValue?.count == 1)
            #expect(missed["changes"]?[0]?["key"]?["name"] == "b")
        }
    }

    @Test("Session cookies survive a restart of the process, but not of the machine, unless they persist")
    func boot() throws {
        try with { stage in
            try stage.set("session=1")
            try stage.set("lasting=1; Max-Age=1000")
            try stage.call(
                SetTask(service: stage.service),
                ["url": "https://a.example/", "line": "kept=1", "persist": true])
            let same = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            #expect(try same.names() == ["kept", "lasting", "session"])
            stage.clocks.boot("second")
            let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            #expect(try next.names() == ["kept", "lasting"])
        }
    }

    @Test("A private profile is not on disk, and ends with the last session that has used it")
    func privateProfile() throws {
        try with { stage in
            try stage.set("hidden-word=1", profile: "private:x", session: 3)
            try stage.set("b=1", profile: "private:x", session: 4)
            stage.engine.sessionClosed(3)
            // The test itself reads it as session 1.
            #expect(try stage.names(profile: "private:x") == ["b", "hidden-word"])
            stage.engine.sessionClosed(4)
            stage.engine.sessionClosed(1)
            #expect(try stage.names(profile: "private:x") == [])
            for file in try FileManager.default.contentsOfDirectory(atPath: stage.directory) {
                let bytes = FileManager.default.contents(atPath: stage.directory + "/" + file) ?? Data()
                #expect(bytes.range(of: Data("hidden-word".utf8)) == nil, "\(file)")
            }
        }
    }

    @Test("The value of a removed cookie is erased from the file")
    func overwritten() throws {
        try with { stage in
            try stage.set("a=unforgettable; Max-Age=1000")
            try stage.call(DeleteTask(service: stage.service), ["all": true])
            stage.engine.close()
            let bytes = FileManager.default.contents(atPath: stage.path) ?? Data()
            #expect(bytes.range(of: Data("unforgettable".utf8)) == nil)
        }
    }

    @Test("A failed commit changes nothing and fails all its calls, and the next one succeeds")
    func failedCommit() throws {
        let directory = try EngineUnderTest.makeDirectory()
        let disk = FaultyDisk(directory: directory)
        let stage = try EngineUnderTest(directory: directory)
        defer { stage.remove() }
        try stage.set("a=1")
        try stage.call(WatchTask(service: stage.service), [:], session: 9)
        for (fault, code) in [(.sync, "storage.failed"), (.full, "storage.full")] as [(FaultyDisk.Fault, ErrorCode)] {
            let set = SetTask(service: stage.service)
            let calls = [
                try stage.begin(set, ["url": "https://a.example/", "line": "b=1"]),
                try stage.begin(set, ["url": "https://a.example/", "line": "c=1"], session: 2),
                try stage.begin(set, ["url": "https://a.example/", "line": "p=1", "profile": "private:x"], session: 2),
            ]
            disk.set(fault, true)
            stage.engine.carryOut(calls)
            disk.set(fault, false)
            for call in calls.prefix(2) {
                let error = #expect(throws: BridgeError.self) { try call.result() }
                #expect(error?.code == code)
                #expect(error?.message.contains(directory) == false)
            }
            #expect(throws: Never.self) { try calls[2].result() }
            #expect(stage.sink.take(9) == [])
            #expect(try stage.names() == ["a"])
            let next = try EngineUnderTest(clocks: stage.clocks, directory: directory)
            #expect(try next.names() == ["a"])
            next.engine.close()
        }
        try stage.set("d=1")
        #expect(try stage.names() == ["a", "d"])
        #expect(stage.sink.take(9).count == 1)
    }

    @Test("A seed sets cookies of several domains, with once only once, and is undone by its name")
    func seeds() throws {
        try with { stage in
            let options: JSON = [
                "seed": "login", "domains": ["a.example", "b.example"], "cookies": [["name": "s", "value": "1"]],
                "attributes": ["secure": true, "persist": true], "once": true,
            ]
            try stage.set("own=1")
            #expect(try stage.call(SeedTask(service: stage.service), options)["set"] == 2)
            try stage.call(DeleteTask(service: stage.service), ["domain": "b.example"])
            let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            let again = try next.call(SeedTask(service: next.service), options)
            #expect(again["set"] == 0 && again["skipped"] == 2)
            #expect(try next.names() == ["own", "s"])
            #expect(try next.call(DeleteTask(service: next.service), ["seed": "login"])["removed"] == 1)
            #expect(try next.names() == ["own"])
            let last = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            #expect(throws: BridgeError.self) { try last.call(DeleteTask(service: last.service), ["seed": "login"]) }
            #expect(try last.call(SeedTask(service: last.service), options)["set"] == 2)
            let wide: JSON = ["seed": "wide", "domains": ["co.uk"], "cookies": [["name": "s", "value": "1"]]]
            let error = #expect(throws: BridgeError.self) { try last.call(SeedTask(service: last.service), wide) }
            #expect(error?.data == ["reason": "public_suffix"])
        }
    }

    @Test("A seed that would have too many cookies changes nothing")
    func largeSeed() throws {
        try with { stage in
            let seed = { (batch: Int) throws -> JSON in
                let domains = (0..<20).map { JSON.string("d\($0).example") }
                let cookies = (0..<10).map { JSON.object(["name": .string("c\(batch)-\($0)"), "value": "1"]) }
                return try stage.call(
                    SeedTask(service: stage.service),
                    ["seed": "large", "domains": .array(domains), "cookies": .array(cookies)])
            }
            for batch in 0..<5 { #expect(try seed(batch)["set"] == 200) }
            try stage.call(WatchTask(service: stage.service), [:], session: 9)
            let before = try stage.call(GetTask(service: stage.service), [:])
            let error = #expect(throws: BridgeError.self) { try seed(5) }
            #expect(error?.code == .quotaExceeded && error?.data?["quota"] == "cookie_seeds")
            #expect(stage.sink.take(9) == [])
            #expect(try stage.call(GetTask(service: stage.service), [:]) == before)
            let removed = try stage.call(DeleteTask(service: stage.service), ["seed": "large"])
            #expect(removed["removed"] == 1000)
            #expect(try stage.names() == [])
        }
    }

    @Test("A refused cookie of a new profile removes no profile without cookies")
    func refusedProfile() throws {
        var settings = CookieSettings()
        settings.uidProfiles = 1
        let stage = try EngineUnderTest(settings: settings)
        defer { stage.remove() }
        try stage.set("a=1")
        try stage.call(DeleteTask(service: stage.service), ["all": true])
        let before = try stage.call(WatchTask(service: stage.service), [:])
        #expect(throws: BridgeError.self) { try stage.set("a=1; Domain=b.example", profile: "work") }
        try stage.set("a=1; Max-Age=0", profile: "work")
        #expect(try stage.call(WatchTask(service: stage.service), [:]) == before)
        let next = try EngineUnderTest(settings: settings, clocks: stage.clocks, directory: stage.directory)
        #expect(try next.call(WatchTask(service: next.service), [:]) == before)
        // An accepted cookie removes it.
        try stage.set("a=1", profile: "work")
        #expect(try stage.call(WatchTask(service: stage.service), [:])["version"] == 0)
    }

    @Test("A user's profiles and bytes are limited, separately from other users'")
    func quotas() throws {
        var settings = CookieSettings()
        settings.uidProfiles = 2
        settings.uidBytes = 1000
        let stage = try EngineUnderTest(settings: settings)
        defer { stage.remove() }
        try stage.set("a=1")
        try stage.set("a=1", profile: "private:x")
        let many = #expect(throws: BridgeError.self) { try stage.set("a=1", profile: "work") }
        #expect(many?.code == .quotaExceeded && many?.data?["quota"] == "cookie_profiles")
        let large = #expect(throws: BridgeError.self) { try stage.set("b=" + String(repeating: "x", count: 1000)) }
        #expect(large?.code == .quotaExceeded && large?.data?["quota"] == "cookie_bytes")
        #expect(try stage.names() == ["a"])
        try stage.set("b=" + String(repeating: "x", count: 900))
        try stage.set("b=1", uid: 1001)
        // A profile without cookies does not count.
        try stage.call(DeleteTask(service: stage.service), ["all": true])
        try stage.set("a=1", profile: "work")
        #expect(try stage.names() == [] && stage.names(profile: "work") == ["a"])
    }

    @Test("Of 3,350 cookies in a profile, 3,300 are kept, in the file too")
    func many() throws {
        try with { stage in
            let set = SetTask(service: stage.service)
            var calls: [TestCall] = []
            for index in 0..<3_350 {
                let url: JSON = .string("https://h\(index % 100).example\(index % 100).test/")
                calls.append(try stage.begin(set, ["url": url, "line": .string("c\(index)=1; Max-Age=1000")]))
                guard calls.count == 50 else { continue }
                stage.engine.carryOut(calls)
                calls = []
            }
            let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            let count = try next.engine.store.read(.standard(of: 1000)) { jar, _ in jar.count }
            #expect(count == 3300)
        }
    }
}
