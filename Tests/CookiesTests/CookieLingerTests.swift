import TaskKit
import Testing

@testable import CookiesTasks

@Suite("Session cookies after the last container has left", .timeLimit(.minutes(20)))
struct CookieLingerTests {
    private func with(_ body: (EngineUnderTest) throws -> Void) throws {
        let stage = try EngineUnderTest()
        defer { stage.remove() }
        try body(stage)
    }

    @Test("Session cookies end 600 seconds after the last container has left, also across a restart")
    func linger() throws {
        try with { stage in
            try stage.set("session=1")
            try stage.call(AttachTask(service: stage.service), ["replica": "web"], session: 7)
            stage.engine.sessionClosed(7)
            stage.clocks.advance(by: 599)
            stage.engine.endLingering()
            #expect(try stage.names() == ["session"])
            let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            next.clocks.advance(by: 600)
            next.engine.endLingering()
            #expect(try next.names() == [])
        }
    }

    @Test("A container that returns in time keeps the session cookies")
    func comesBack() throws {
        try with { stage in
            try stage.set("session=1")
            try stage.call(AttachTask(service: stage.service), ["replica": "web"], session: 7)
            stage.engine.sessionClosed(7)
            try stage.call(AttachTask(service: stage.service), ["replica": "web"], session: 8)
            stage.clocks.advance(by: 10_000)
            stage.engine.endLingering()
            #expect(try stage.names() == ["session"])
        }
    }

    @Test("However often containers are detached, one timer runs, for the profile that ends first")
    func lingerTimer() throws {
        try with { stage in
            let attach = AttachTask(service: stage.service)
            try stage.set("session=1")
            try stage.set("session=1", profile: "work")
            for _ in 0..<3 {
                try stage.call(attach, ["replica": "web"], session: 7)
                try stage.call(attach, ["replica": "web", "stop": true], session: 7)
            }
            #expect(stage.sink.takeDelays() == [.seconds(600)])
            stage.clocks.advance(by: 100)
            try stage.call(attach, ["replica": "web", "profile": "work"], session: 8)
            stage.engine.sessionClosed(8)
            #expect(stage.sink.takeDelays() == [])
            stage.clocks.advance(by: 500)
            stage.engine.endLingering()
            #expect(try stage.names() == [] && stage.names(profile: "work") == ["session"])
            #expect(stage.sink.takeDelays() == [.seconds(100)])
            stage.clocks.advance(by: 100)
            stage.engine.endLingering()
            #expect(try stage.names(profile: "work") == [])
            #expect(stage.sink.takeDelays() == [])
        }
    }

    @Test("The session cookies of a profile that begins while a container is attached end after a restart, too")
    func attendedLater() throws {
        try with { stage in
            let attach = AttachTask(service: stage.service)
            try stage.call(attach, ["replica": "web"], session: 7)
            try stage.set("session=1")
            // In the same commit as the attachment, and after the last container has left.
            let calls = [
                try stage.begin(attach, ["replica": "web", "profile": "work"], session: 7),
                try stage.begin(
                    SetTask(service: stage.service),
                    ["url": "https://a.example/", "line": "session=1", "profile": "work"]),
            ]
            stage.engine.carryOut(calls)
            for call in calls { _ = try call.result() }
            try stage.call(attach, ["replica": "web", "profile": "late"], session: 7)
            stage.engine.sessionClosed(7)
            try stage.set("session=1", profile: "late")
            let next = try EngineUnderTest(clocks: stage.clocks, directory: stage.directory)
            let profiles = ["default", "work", "late"]
            #expect(try profiles.allSatisfy { try next.names(profile: $0) == ["session"] })
            next.clocks.advance(by: 600)
            next.engine.endLingering()
            #expect(try profiles.allSatisfy { try next.names(profile: $0) == [] })
        }
    }
}
